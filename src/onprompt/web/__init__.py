"""Pages on a local server: reviewing a run, and trying it out. Needs `pip install 'onprompt[web]'`."""
