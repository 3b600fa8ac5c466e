import { describe, expect, it } from 'vitest'
import { isListenKey } from '../../src/core/stack/listen-ports.ts'
import { findStarts } from '../../src/core/stack/starts.ts'
import { factsOf, manifest } from '../support/facts-of.ts'

type Files = Record<string, string>
/** `variable=port file:line`, `-` for none. */
async function defaultsOf(files: Files): Promise<string[]> {
  return findStarts(await factsOf(files))
    .filter(start => start.isDefault)
    .map(start => {
      const ports = start.ports.map(
        port => `${port.variable ?? '-'}=${port.port ?? '-'} ${port.evidence.file}:${port.evidence.line}`,
      )
      return [start.folder === '' ? start.command : `(${start.folder}) ${start.command}`, ...ports].join(
        ' | ',
      )
    })
}

const rows: [title: string, files: Files, expected: string[]][] = [
  [
    'Next, which reads PORT',
    { 'package.json': manifest({ dev: 'next dev' }) },
    ['npm run dev | PORT=3000 package.json:4'],
  ],
  [
    'Next with a literal port',
    { 'package.json': manifest({ dev: 'next dev -p 3005' }) },
    ['npm run dev | -=3005 package.json:4'],
  ],
  [
    'a script with a port from a variable',
    { 'package.json': manifest({ dev: 'next dev --port ${WEB_PORT:-3005}' }) },
    ['npm run dev | WEB_PORT=3005 package.json:4'],
  ],
  [
    'a script that sets PORT itself',
    { 'package.json': manifest({ dev: 'PORT=3007 node server.js' }) },
    ['npm run dev | -=3007 package.json:4'],
  ],
  [
    'Vite, which only takes an argument',
    { 'package.json': manifest({ dev: 'vite' }) },
    ['npm run dev | -=5173 package.json:4'],
  ],
  [
    'Vite with a literal port in its configuration',
    {
      'package.json': manifest({ dev: 'vite' }),
      'vite.config.ts': 'export default {\n  server: {\n    host: true,\n    port: 8123,\n  },\n}\n',
    },
    ['npm run dev | -=8123 vite.config.ts:4'],
  ],
  [
    'Vite with a variable in its configuration',
    {
      'package.json': manifest({ dev: 'vite' }),
      'vite.config.ts': 'export default {\n  server: { port: Number(process.env.VITE_PORT ?? 5174) },\n}\n',
    },
    ['npm run dev | VITE_PORT=5174 vite.config.ts:2'],
  ],
  [
    'webpack’s configuration',
    {
      'package.json': manifest({ start: 'webpack serve' }),
      'webpack.config.js': 'module.exports = {\n  devServer: { port: 9001 },\n}\n',
    },
    ['npm run start | -=9001 webpack.config.js:2'],
  ],
  [
    'a program that listens on a number',
    {
      'package.json': manifest({ start: 'node server.js' }),
      'server.js': "const app = require('express')()\napp.listen(3000)\n",
    },
    ['npm run start | -=3000 server.js:2'],
  ],
  [
    'a program that listens on a variable',
    {
      'package.json': manifest({ start: 'node server.js' }),
      'server.js': 'const port = process.env.PORT || 4001\napp.listen(port)\n',
    },
    ['npm run start | PORT=4001 server.js:1'],
  ],
  [
    'a program with a variable of another name',
    {
      'package.json': manifest({ dev: 'tsx src/main.ts' }),
      'src/main.ts': "await app.listen({ port: Number(process.env.API_PORT ?? '4002') })\n",
    },
    ['npm run dev | API_PORT=4002 src/main.ts:1'],
  ],
  [
    'each member of a workspace',
    {
      'package.json': '{"workspaces":["apps/*"],"scripts":{"dev":"turbo run dev"}}',
      'apps/web/package.json': manifest({ dev: 'next dev' }),
      'apps/api/package.json': manifest({ dev: 'tsx watch src/index.ts' }),
      'apps/api/src/index.ts': 'listen(process.env.API_PORT ?? 4000)\n',
    },
    [
      'npm run dev | PORT=3000 package.json:1',
      '(apps/api) npm run dev | API_PORT=4000 apps/api/src/index.ts:1',
      '(apps/web) npm run dev | PORT=3000 apps/web/package.json:4',
    ],
  ],
  [
    'Rails through bin/dev and puma',
    {
      Gemfile: 'gem "rails"\n',
      'bin/rails': '#!/usr/bin/env ruby\n',
      'bin/dev': '#!/bin/sh\nexec foreman start -f Procfile.dev\n',
      'Procfile.dev': 'web: bin/rails server\n',
      'config/puma.rb': 'threads 5\nport ENV.fetch("PORT", 3000)\n',
    },
    ['sh bin/dev | PORT=3000 config/puma.rb:2'],
  ],
  [
    'Rails without bin/dev',
    { Gemfile: 'gem "rails"\n', 'bin/rails': '#!/usr/bin/env ruby\n' },
    ['bin/rails server | PORT=3000 bin/rails:1'],
  ],
  [
    'Django with uv',
    { 'manage.py': 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "x")\n', 'uv.lock': '' },
    ['uv run python3 manage.py runserver | -=8000 manage.py:1'],
  ],
  [
    'Django through make',
    { 'manage.py': 'DJANGO\n', Makefile: 'run:\n\tpython manage.py runserver 8010\n' },
    ['make run | -=8010 Makefile:1'],
  ],
  [
    'Flask',
    { 'app.py': 'from flask import Flask\napp = Flask(__name__)\n', 'requirements.txt': 'flask\n' },
    ['flask run | FLASK_RUN_PORT=5000 app.py:2'],
  ],
  [
    'Flask with a program that runs itself',
    {
      Procfile: 'web: python app.py\n',
      'app.py': 'import os\nport = int(os.environ.get("PORT", 5001))\napp.run(port=port)\n',
    },
    ['python app.py | PORT=5001 app.py:2'],
  ],
  [
    'FastAPI in a package',
    {
      'app/__init__.py': '',
      'app/main.py': 'from fastapi import FastAPI\napp = FastAPI()\n',
      'poetry.lock': '',
    },
    ['poetry run uvicorn app.main:app --reload | UVICORN_PORT=8000 app/main.py:2'],
  ],
  [
    'uvicorn with a number in the program',
    {
      Makefile: 'dev:\n\tpython main.py\n',
      'main.py': 'uvicorn.run("main:app", host="0.0.0.0", port=8002)\n',
    },
    ['make dev | -=8002 main.py:1'],
  ],
  [
    'Laravel',
    { artisan: '#!/usr/bin/env php\n', 'composer.json': '{}' },
    ['php artisan serve | SERVER_PORT=8000 artisan:1'],
  ],
  [
    'Phoenix with a literal port',
    {
      'mix.exs': '[{:phoenix, "~> 1.7"}]\n',
      'config/dev.exs': 'config :a, AWeb.Endpoint,\n  http: [ip: {127, 0, 0, 1}, port: 4000]\n',
    },
    ['mix phx.server | -=4000 config/dev.exs:2'],
  ],
  [
    'Go with a variable',
    {
      'go.mod': 'module x\n',
      'main.go':
        'package main\n\nfunc main() {\n\tport := os.Getenv("PORT")\n\thttp.ListenAndServe(":"+port, nil)\n}\n',
    },
    ['go run . | PORT=- main.go:4'],
  ],
  [
    'Go in cmd, with a number',
    { 'go.mod': 'module x\n', 'cmd/api/main.go': 'package main\nfunc main() {\n\trouter.Run(":8088")\n}\n' },
    ['go run ./cmd/api | -=8088 cmd/api/main.go:3'],
  ],
  [
    'Rust',
    {
      'Cargo.toml': '[dependencies]\naxum = "0.7"\n',
      'src/main.rs': 'fn main() {\n  TcpListener::bind("0.0.0.0:3030").await;\n}\n',
    },
    ['cargo run | -=3030 src/main.rs:2'],
  ],
  [
    'Spring',
    {
      'pom.xml': '<artifactId>spring-boot-maven-plugin</artifactId>',
      mvnw: '',
      'src/main/resources/application.properties':
        'spring.application.name=a\nserver.port=${APP_PORT:8085}\n',
    },
    ['./mvnw spring-boot:run | APP_PORT=8085 src/main/resources/application.properties:2'],
  ],
  [
    'Spring without a setting',
    { 'build.gradle': "plugins { id 'org.springframework.boot' }\n" },
    ['gradle bootRun | SERVER_PORT=8080 build.gradle:1'],
  ],
  [
    '.NET with launch settings',
    {
      'src/Web/Web.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"/>',
      'src/Web/Properties/launchSettings.json':
        '{\n"profiles": {"http": {"applicationUrl": "http://localhost:5124"}}}',
    },
    ['dotnet run --project src/Web | -=5124 src/Web/Properties/launchSettings.json:2'],
  ],
  [
    'a compose file that builds the app',
    {
      'compose.yaml':
        'services:\n  app:\n    build: .\n    ports: ["${APP_PORT:-8090}:80"]\n  db:\n    image: postgres:16\n',
      Dockerfile: 'FROM php\nEXPOSE 80\n',
    },
    ['docker compose up | APP_PORT=8090 compose.yaml:4'],
  ],
  [
    'what an image exposes, where nothing else is known',
    { 'package.json': manifest({ start: 'node dist/main.js' }), Dockerfile: 'FROM node\nEXPOSE 7070\n' },
    ['npm run start | -=7070 Dockerfile:2'],
  ],
  [
    'the number that an env example gives',
    { 'package.json': manifest({ dev: 'next dev' }), '.env.example': 'DB_PORT=5432\nPORT=3100\n' },
    ['npm run dev | PORT=3100 .env.example:2'],
  ],
]

describe('findStarts', () => {
  it.each(rows)('starts %s', async (_title, files, expected) => {
    expect(await defaultsOf(files)).toEqual(expected)
  })

  it.each([
    [
      'a library that only compiles',
      { 'package.json': manifest({ dev: 'tsc --watch', start: 'tsup --watch', build: 'vite build' }) },
    ],
    ['a release command', { Procfile: 'release: bin/rails db:migrate\n' }],
    ['an example', { 'examples/a/package.json': manifest({ dev: 'next dev' }) }],
  ] as [string, Files][])('does not start %s', async (_title, files) => {
    expect(await defaultsOf(files)).toEqual([])
  })

  it('says how a tool without a variable is given another port', async () => {
    const [start] = findStarts(await factsOf({ 'package.json': manifest({ dev: 'vite' }) }))
    expect(start?.portFlag).toBe('--port')
  })
})

describe('isListenKey', () => {
  it.each([
    'PORT',
    'VITE_PORT',
    'SERVER_PORT',
    'FLASK_RUN_PORT',
    'API_PORT',
    'HTTP_PORT',
    'serverPort',
    'PORT_WEB',
  ])('takes %s for a port that is opened', key => {
    expect(isListenKey(key)).toBe(true)
  })
  it.each([
    'DB_PORT',
    'REDIS_PORT',
    'POSTGRES_PORT',
    'SMTP_PORT',
    'MAIL_PORT',
    'DATABASE_PORT',
    'PORTAL',
    'REPORT',
    'ES_PORT',
    'AMQP_PORT',
  ])('takes %s for something else', key => {
    expect(isListenKey(key)).toBe(false)
  })
})
