# syntax=docker/dockerfile:1
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY dashboard ./dashboard
RUN npm run build
# Brokers' clients are for development and optional peers, so npm would leave them out, or bring back everything that is
# for development with them. With neither list they are what is wanted beside the rest, and the same image works with any
# broker or none.
RUN npm pkg delete devDependencies peerDependencies peerDependenciesMeta \
  && npm install --no-save bullmq@6.7.0 ioredis@6.0.0 rabbitmq-client@5.0.8

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3400 POSTRIDER_DATA=/data
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY migrations ./migrations
COPY package.json LICENSE README.md ./
# The only place it writes to: the embedded database, and notes about hand-overs while a database is away. Mount a volume
# there; all the rest may be read-only (docker run --read-only -v postrider:/data …).
RUN install -d -o node -g node /data
VOLUME /data
USER node
EXPOSE 3400
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Listening to signals comes before all the rest is loaded: a stop while it starts would be lost.
ENTRYPOINT ["node", "--import", "./dist/cli/first-process.js", "dist/cli/main.js"]
CMD ["start"]
