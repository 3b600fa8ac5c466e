// A notes app that keeps its data in one file: GET /notes lists, POST /notes adds the body as a note.
// It knows nothing of penv: PORT and NOTES_FILE come from its environment, as they would from any .env file.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

const { PORT = '3000', NOTES_FILE = 'notes.json' } = process.env
const read = () => (existsSync(NOTES_FILE) ? JSON.parse(readFileSync(NOTES_FILE, 'utf8')) : [])

createServer(async (request, response) => {
  if (request.method === 'POST') {
    let body = ''
    for await (const chunk of request) body += chunk
    writeFileSync(NOTES_FILE, JSON.stringify([...read(), body]))
  }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(read()))
}).listen(Number(PORT), '127.0.0.1')
