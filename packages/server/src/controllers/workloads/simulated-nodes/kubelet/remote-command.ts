// Runs exec and attach in a simulated container: writes what its rules say, and the exit status to the error stream.

import type { Duplex } from 'node:stream'
import { systemTimers, type Timers } from '@cluster-apiserver/api/base/clock.js'
import { type CommandScript, findCommand } from '../container-scripts.js'

export interface CommandStreams {
  /** Subprotocol; since version 4 the exit status is JSON. */
  readonly protocol: string
  readonly isTty: boolean
  readonly stdin: Duplex | undefined
  readonly stdout: Duplex | undefined
  readonly stderr: Duplex | undefined
  /** The error stream. */
  readonly status: Duplex
}

interface CommandContext {
  readonly container: string
  /** Name of the annotation with rules. */
  readonly annotation: string
  readonly scripts: readonly CommandScript[]
  readonly timers: Timers | undefined
  /** Resolves when the container has ended. */
  readonly containerEnd: Promise<void>
  readonly signal: AbortSignal
}

const killedCode = 137
const notFoundCode = 127

export async function runCommand(streams: CommandStreams, words: readonly string[], context: CommandContext): Promise<void> {
  const script = findCommand(context.scripts, words)
  const isEchoed = script?.echoesStdin === true
  if (!isEchoed) streams.stdin?.resume()
  const run = script === undefined ? refuse(streams, words, context) : play(streams, script, context)
  const code = await Promise.race([run, context.containerEnd.then(() => killedCode)])
  await writeStatus(streams, code)
}

/** Copies the log of the container until it ends. Input is accepted and has no effect. */
export async function attachToLog(streams: CommandStreams, log: AsyncIterable<string>): Promise<void> {
  streams.stdin?.resume()
  for await (const text of log) await send(streams.stdout, withTtyLines(streams, text))
  await writeStatus(streams, 0)
}

async function refuse(streams: CommandStreams, words: readonly string[], { container, annotation }: CommandContext): Promise<number> {
  const command = JSON.stringify(words).slice(0, 1000)
  const text = `container "${container}" is simulated and runs no commands: add {"command": ${command}, "stdout": "..."} to "exec" of a rule, such as in the annotation ${annotation} of the pod\n`
  await send(streams.stderr ?? streams.stdout, withTtyLines(streams, text))
  return notFoundCode
}

async function play(streams: CommandStreams, script: CommandScript, { timers = systemTimers, signal }: CommandContext): Promise<number> {
  await send(streams.stdout, withTtyLines(streams, script.stdout))
  await send(streams.stderr ?? (streams.isTty ? streams.stdout : undefined), withTtyLines(streams, script.stderr))
  if (script.echoesStdin && streams.stdin !== undefined) await echo(streams, streams.stdin)
  if (script.exitAfterMs > 0) await pause(script.exitAfterMs, timers, signal)
  return script.exitCode
}

/** Control characters with which a terminal ends a program: Ctrl-C and Ctrl-D. */
const endCharacters = [3, 4]

async function echo({ stdout, isTty }: CommandStreams, stdin: Duplex): Promise<void> {
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    await send(stdout, chunk)
    if (isTty && endCharacters.some((character) => chunk.includes(character))) return
  }
}

/** A terminal needs carriage returns, which a kernel adds on a real node. */
const withTtyLines = ({ isTty }: CommandStreams, text: string): string => (isTty ? text.replaceAll('\n', '\r\n') : text)

function pause(ms: number, timers: Timers, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const cancel = timers.after(ms, resolve)
    signal.addEventListener('abort', () => {
      cancel()
      resolve()
    })
  })
}

/** Resolves when the bytes are written, or cannot be. */
export function send(stream: Duplex | undefined, bytes: string | Buffer): Promise<void> {
  if (stream === undefined || bytes.length === 0 || !stream.writable) return Promise.resolve()
  return new Promise((resolve) => {
    stream.write(bytes, () => resolve())
  })
}

async function writeStatus({ protocol, status, stdout, stderr }: CommandStreams, code: number): Promise<void> {
  await send(status, /^v[45]\./.test(protocol) ? JSON.stringify(statusOf(code)) : code === 0 ? '' : messageOf(code))
  for (const stream of [stdout, stderr, status]) stream?.end()
}

const messageOf = (code: number): string => `command terminated with non-zero exit code: exit status ${code}`

const statusOf = (code: number): object =>
  code === 0
    ? { metadata: {}, status: 'Success' }
    : {
        metadata: {},
        status: 'Failure',
        message: messageOf(code),
        reason: 'NonZeroExitCode',
        details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
      }
