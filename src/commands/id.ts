// `penv id`: the id of the environment here; nothing on a main checkout and outside of repositories.

import type { Answer, Context } from '../context.ts'
import { findEnvironment } from '../host/environments.ts'

export async function id(context: Context): Promise<Answer> {
  const found = await findEnvironment(context)
  return found.kind === 'environment'
    ? { json: { id: found.id }, text: found.id }
    : { json: { id: null }, text: '' }
}
