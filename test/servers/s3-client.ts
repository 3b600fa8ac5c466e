// What an application does with S3: requests signed with version 4, by nothing but node's crypto.
import { createHash, createHmac } from 'node:crypto'

export interface Credentials {
  address: string
  key: string
  secret: string
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** Every byte of a key but the slashes, as a signature wants it. */
export function encodeKey(key: string): string {
  const hex = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(key)
    .replace(/[!'()*]/g, hex)
    .replaceAll('%2F', '/')
}

/** `path` is encoded, `query` sorted. Answers with status and text. */
export async function s3(
  { address, key, secret }: Credentials,
  method: string,
  path: string,
  body = '',
  query = '',
): Promise<{ status: number; text: string }> {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const scope = `${time.slice(0, 8)}/us-east-1/s3/aws4_request`
  const payload = sha256(body)
  const canonical = [
    method,
    path,
    query,
    `host:${address}`,
    `x-amz-content-sha256:${payload}`,
    `x-amz-date:${time}`,
    '',
    'host;x-amz-content-sha256;x-amz-date',
    payload,
  ].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const signingKey = scope
    .split('/')
    .reduce<string | Buffer>((from, part) => hmac(from, part), `AWS4${secret}`)
  const signature = createHmac('sha256', signingKey).update(toSign).digest('hex')
  const answer = await fetch(`http://${address}${path}${query === '' ? '' : `?${query}`}`, {
    method,
    headers: {
      'x-amz-content-sha256': payload,
      'x-amz-date': time,
      'content-md5': createHash('md5').update(body).digest('base64'),
      authorization: `AWS4-HMAC-SHA256 Credential=${key}/${scope}, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${signature}`,
    },
    ...(method === 'PUT' ? { body } : {}),
  })
  return { status: answer.status, text: await answer.text() }
}
