"""The words that speak of the picture as a whole: media, views, light, moods, styles, artists."""

from __future__ import annotations

from onprompt.language.lexicon import words

# ---- what frames the picture ---------------------------------------------------------------------------------------

MEDIA = words(
    "photo photograph photography picture image painting drawing sketch illustration render rendering cartoon comic "
    "watercolor watercolour poster print engraving etching mosaic collage screenshot artwork art photorealism "
    "snapshot portrait doodle clipart clip_art vector lithograph mural graphic shot view close-up closeup still "
    "selfie scene animation anime stock footage logo icon woodcut diorama tapestry fresco polaroid daguerreotype "
    "selfies photos pictures images paintings drawings illustrations visualization depiction headshot scan x-ray "
    "woodblock pic gif wallpaper infographic storyboard concept_art pixel_art line_art digital_art oil_painting"
)
LONG_MEDIA = words(
    "oil_painting digital_painting digital_art pencil_sketch pencil_drawing charcoal_drawing charcoal_sketch "
    "ink_drawing ink_sketch line_drawing crayon_drawing pastel_drawing acrylic_painting watercolor_painting "
    "matte_painting 3d_render 3d_rendering oil_on_canvas concept_art pixel_art clip_art line_art digital_illustration "
    "vector_illustration digital_image stock_photo macro_photo aerial_photo aerial_view overhead_view side_view "
    "front_view top_view close-up_view aerial_shot overhead_shot wide_shot macro_shot close-up_shot"
)
# What else is said of a medium before its noun.
FRAMING = words(
    "body half-body length and oil digital pencil charcoal ink pen crayon pastel acrylic line pixel concept clip "
    "child 's stock product book cover studio street night film movie dslr 2d good nice great amazing blurry candid "
    "professional color colour hand-drawn iphone medium full extreme side front top back wide up close one two hd "
    "very highly ultra hyper bird eye comic watercolor satellite security camera polaroid"
)
MOOD_NOUNS = words("mood atmosphere vibe vibes ambience feeling")
EMPTY_MEDIA = words("image picture scene view images pictures shot")
VIEWS = words(
    "close-up closeup close_up view shot aerial overhead macro wide-angle wide_angle panorama panoramic bird's-eye "
    "low-angle high-angle top-down side-view front-view back-view pov first-person isometric fisheye fish-eye "
    "full-body full_body headshot zoomed-in telephoto angle perspective bird's_eye_view from_above from_below "
    "from_behind from_the_side low_angle high_angle eye-level top_view side_view front_view extreme_close-up "
    "drone_shot aerial_view"
)
LIGHT_AND_TIME = words(
    "night day daytime nighttime sunset sunrise dusk dawn twilight noon midday midnight evening morning afternoon "
    "golden_hour blue_hour daylight sunlight moonlight candlelight backlighting lighting light volumetric rim ambient "
    "neon_lights studio_lighting soft_light"
)
MOODS = words(
    "eerie peaceful moody dreamy gloomy serene ominous spooky creepy cheerful whimsical mysterious romantic nostalgic "
    "melancholic epic dramatic tranquil cozy atmospheric ethereal haunting joyful uplifting horror scary majestic "
    "calm mood atmosphere vibe ambience aesthetic"
)
QUALITIES = words(
    "shallow_depth_of_field long_exposure double_exposure unreal_engine_5 lowres 4k 8k hd uhd hdr 16k 2k detailed "
    "highly_detailed ultra_detailed masterpiece high_quality best_quality sharp_focus sharp high_resolution hi-res "
    "award-winning award_winning intricate trending_on_artstation artstation hyperdetailed trending professional "
    "quality resolution detail details dof bokeh depth_of_field 35mm unreal_engine octane_render octane "
    "hyperrealistic photorealistic ultrarealistic realistic stunning beautiful unreal 50mm 85mm dslr hyper-realistic "
    "high_detail extremely_detailed cinematic ultra-detailed 3d 4d ultra_hd focus hyper raytracing ray_tracing vray "
    "cgi"
)
GLOBAL_STYLES = words(
    "impressionist impressionism cyberpunk steampunk minimalist minimalistic surreal surrealism surrealist abstract "
    "expressionist cubist cubism baroque renaissance gothic anime manga pixar disney ghibli studio_ghibli vaporwave "
    "synthwave art_deco art_nouveau pop_art pixel_art low_poly noir film_noir retro vintage photorealism hyperrealism "
    "realism fantasy sci-fi science_fiction futuristic psychedelic graffiti flat_design isometric line_art vector "
    "cartoon comic ukiyo-e pointillism dieselpunk solarpunk concept_art digital_art digital_painting monochrome "
    "black_and_white black-and-white sepia grayscale in_black_and_white matte_painting claymation stop_motion "
    "photography fine_art conceptual post-apocalyptic dystopian rococo romanticism"
)
ARTISTS = words(
    "artgerm greg_rutkowski alphonse_mucha mucha klimt gustav_klimt van_gogh vincent_van_gogh picasso pablo_picasso "
    "monet claude_monet salvador_dali dali rembrandt vermeer da_vinci leonardo_da_vinci michelangelo caravaggio "
    "hokusai hieronymus_bosch h.r._giger giger beksinski zdzislaw_beksinski moebius james_jean simon_stalenhag wlop "
    "ross_draws ansel_adams annie_leibovitz andy_warhol warhol banksy basquiat frida_kahlo magritte rene_magritte "
    "edward_hopper norman_rockwell thomas_kinkade bob_ross craig_mullins frank_frazetta frazetta hayao_miyazaki "
    "makoto_shinkai kandinsky matisse cezanne degas renoir turner munch edvard_munch botticelli raphael gustave_dore "
    "peter_mohrbacher ilya_kuvshinov loish magali_villeneuve tim_burton wes_anderson ghibli stanley_artgerm_lau "
    "takashi_murakami"
)

TIMES = words(
    "night day daytime nighttime sunset sunrise dusk dawn twilight noon midday midnight golden_hour blue_hour "
    "moonlight daylight morning evening afternoon sunlight candlelight"
)
SEEN_FROM = words(
    "seen_from_above seen_from_below seen_from_behind seen_from_the_side seen_from_the_front seen_from_afar "
    "viewed_from_above viewed_from_below viewed_from_behind from_above from_below from_afar from_a_distance"
)
IN_STYLE = words("in_the_style_of in_style_of in_the_manner_of styled_after styled_like inspired_by in_the_style")
MADE_BY = words(
    "painted drawn designed photographed illustrated sculpted directed taken created art artwork photo photography "
    "illustration painting made shot rendered portrait work"
)
