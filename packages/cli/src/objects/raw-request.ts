// Raw requests (--raw of get, replace and delete): sends a request to any path and prints the response body.

import { readFileSync } from 'node:fs'
import type { CommandContext } from '../command-line/command.js'
import { CommandError } from '../command-line/errors.js'
import { type FlagTable, UsageError } from '../command-line/flags.js'

export const rawFlags = {
  raw: { kind: 'text', help: 'path of the server, such as /readyz; prints the response' },
} as const satisfies FlagTable

interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly files: readonly string[]
}

export async function sendRaw({ args, session, io, signal }: CommandContext, { method, path, files }: RawRequest): Promise<number> {
  if (args.length > 0) throw new UsageError('arguments may not be passed when --raw is specified')
  if (!path.startsWith('/')) throw new UsageError(`--raw requires a path that begins with "/", not "${path}"`)
  const [file] = files
  const needsFile = method === 'POST' || method === 'PUT'
  if ((needsFile && file === undefined) || files.length > 1 || (file !== undefined && /^https?:\/\//.test(file)))
    throw new UsageError('--raw can only use a single local file or stdin')
  const body = file === undefined ? undefined : file === '-' ? await io.readStdin() : readLocal(file)
  const accept = 'application/json, */*'
  const response = await session.client.requester.send({ method, path, accept, ...(body === undefined ? {} : { body }) }, signal)
  const decoder = new TextDecoder()
  for await (const chunk of response.chunks()) {
    io.data(decoder.decode(chunk, { stream: true }))
    await io.untilDrained()
  }
  io.data(decoder.decode())
  return 0
}

function readLocal(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (thrown) {
    throw new CommandError(`cannot read "${file}": ${(thrown as Error).message}`)
  }
}
