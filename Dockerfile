# onprompt with its model files, for a user without rights.
#
#   docker build -t onprompt .
#   docker run --rm -v "$PWD:/data" onprompt verify photo.jpg "Two dogs and a red ball."
#
# Without model files (500 MB smaller), which then lie in a volume:
#   docker build -t onprompt --build-arg PULL= .
#   docker run --rm -v "$PWD:/data" -v onprompt-models:/models onprompt verify photo.jpg "Two dogs."

FROM python:3.12-slim-bookworm AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
# Extras, such as anthropic,gemini
ARG EXTRAS=
RUN python -m venv /opt/onprompt \
    && /opt/onprompt/bin/pip install --no-cache-dir ".${EXTRAS:+[$EXTRAS]}" \
    && find /opt/onprompt -name __pycache__ -prune -exec rm -rf {} +

FROM python:3.12-slim-bookworm
RUN useradd --create-home --uid 1000 onprompt \
    && install -d -o onprompt -g onprompt /models /data
COPY --from=build /opt/onprompt /opt/onprompt
ENV PATH=/opt/onprompt/bin:$PATH ONPROMPT_HOME=/models PYTHONUNBUFFERED=1
USER 1000
ARG PULL=yes
RUN if [ -n "$PULL" ]; then onprompt models pull; fi
WORKDIR /data
ENTRYPOINT ["onprompt"]
CMD ["--help"]
