// Requests for a path that the caller names, answered as the server answers them: for what no command has a word for.

import { readFileSync } from 'node:fs'
import type { Work } from './command.js'
import { Failure } from './failure.js'
import { type FlagTable, UsageError } from './flags.js'

export const rawFlags = {
  raw: { kind: 'text', help: 'a path of the server, such as /readyz: its answer as it is' },
} as const satisfies FlagTable

export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** The file that is sent; `-` is standard input. */
  readonly files: readonly string[]
}

/** Where the command was asked for a path: prints the answer. */
export async function askRaw({ args, session, io, signal }: Work, { method, path, files }: RawRequest): Promise<number> {
  if (args.length > 0) throw new UsageError('arguments may not be passed when --raw is specified')
  if (!path.startsWith('/')) throw new UsageError(`--raw must be a path of the server that begins with "/", not "${path}"`)
  const [file] = files
  const needsFile = method === 'POST' || method === 'PUT'
  if ((needsFile && file === undefined) || files.length > 1 || (file !== undefined && /^https?:\/\//.test(file)))
    throw new UsageError('--raw can only use a single local file or stdin')
  const body = file === undefined ? undefined : file === '-' ? await io.readStdin() : readLocal(file)
  const accept = 'application/json, */*'
  const answer = await session.client.requester.send({ method, path, accept, ...(body === undefined ? {} : { body }) }, signal)
  const decoder = new TextDecoder()
  for await (const chunk of answer.chunks()) {
    io.data(decoder.decode(chunk, { stream: true }))
    await io.untilRoom()
  }
  io.data(decoder.decode())
  return 0
}

function readLocal(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (thrown) {
    throw new Failure(`cannot read "${file}": ${(thrown as Error).message}`)
  }
}
