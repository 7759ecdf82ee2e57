// Remote command (exec, attach): stdin, stdout, stderr, resize and exit status over a WebSocket.

import type { OptionNames } from '@cluster-apiserver/api/base/unknown-options.js'
import { ConnectionError, type StatusBody } from '../errors.js'
import type { RequestOptions } from '../requests/request-options.js'
import type { MessageSocket } from '../transport/transport.js'
import { bytesOf, channelMessage } from './stream-channels.js'

export interface ExecOptions extends Pick<RequestOptions, 'signal'> {
  readonly container?: string
  readonly stdin?: boolean
  readonly tty?: boolean
  /** Reading pauses until the returned promise resolves. */
  readonly onStdout?: (data: Uint8Array) => unknown
  readonly onStderr?: (data: Uint8Array) => unknown
}

export const execNames: OptionNames<ExecOptions> = { container: true, stdin: true, tty: true, onStdout: true, onStderr: true, signal: true }

export interface Exit {
  /** Exit code of the command; undefined if the server sent none, such as for a command that did not start. */
  readonly code: number | undefined
  readonly message: string
  readonly status: StatusBody
}

export interface ExecResult extends Exit {
  readonly stdout: string
  readonly stderr: string
}

const channels = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4, close: 255 } as const

export class RemoteCommand {
  /** Resolves when the command has ended; rejects if the connection breaks first. */
  readonly exit: Promise<Exit>
  private readonly socket: MessageSocket

  constructor(socket: MessageSocket, options: ExecOptions) {
    this.socket = socket
    this.exit = this.read(options)
    this.exit.catch(() => undefined)
  }

  /** Writes to stdin. Resolves when more can be written. */
  write(data: Uint8Array | string): Promise<void> {
    return this.socket.send(channelMessage(channels.stdin, bytesOf(data)))
  }

  /** Closes stdin. Returns false if the server does not support subprotocol v5: earlier versions cannot close stdin. */
  async endInput(): Promise<boolean> {
    if (!this.socket.protocol.startsWith('v5.')) return false
    await this.socket.send(Uint8Array.of(channels.close, channels.stdin))
    return true
  }

  resize(width: number, height: number): Promise<void> {
    return this.socket.send(channelMessage(channels.resize, bytesOf(JSON.stringify({ Width: width, Height: height }))))
  }

  close(): void {
    this.socket.close()
  }

  private async read({ onStdout, onStderr }: ExecOptions): Promise<Exit> {
    let status: StatusBody | undefined
    for await (const message of this.socket.messages()) {
      const data = message.subarray(1)
      if (message[0] === channels.stdout) await onStdout?.(data)
      else if (message[0] === channels.stderr) await onStderr?.(data)
      else if (message[0] === channels.status && data.length > 0) {
        status = readStatus(data)
        break
      }
    }
    if (status === undefined) throw new ConnectionError('the connection closed before the exit status arrived')
    return exitOf(status)
  }
}

function readStatus(data: Uint8Array): StatusBody {
  const text = new TextDecoder().decode(data)
  try {
    return JSON.parse(text) as StatusBody
  } catch {
    return { status: 'Failure', message: text }
  }
}

function exitOf(status: StatusBody): Exit {
  if (status.status === 'Success') return { code: 0, message: '', status }
  const exitCode = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
  return { code: exitCode === undefined ? undefined : Number(exitCode), message: status.message ?? '', status }
}

export async function runToEnd(start: (options: ExecOptions) => Promise<RemoteCommand>): Promise<ExecResult> {
  const output = { stdout: '', stderr: '' }
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  const append = (stream: keyof typeof output) => (data: Uint8Array) => {
    output[stream] += decoders[stream].decode(data, { stream: true })
  }
  const command = await start({ onStdout: append('stdout'), onStderr: append('stderr') })
  const exit = await command.exit
  return { ...exit, ...output }
}
