// A command that runs in a container, and the streams to it and from it.

import { bytesOf, channelMessage } from './channels.js'
import { ConnectionError, type StatusAnswer } from './errors.js'
import type { RequestOptions } from './query.js'
import type { MessageSocket } from './transport.js'

export interface ExecOptions extends Pick<RequestOptions, 'signal'> {
  readonly container?: string
  /** The command reads what `write` sends. */
  readonly stdin?: boolean
  readonly tty?: boolean
  /** Nothing more is read before what they answer with has resolved. */
  readonly onStdout?: (data: Uint8Array) => unknown
  readonly onStderr?: (data: Uint8Array) => unknown
}

export interface Exit {
  /** The exit code of the command; undefined where it did not even start. */
  readonly code: number | undefined
  /** What the server says of it, where that is not success. */
  readonly message: string
  readonly status: StatusAnswer
}

export interface Ran extends Exit {
  readonly stdout: string
  readonly stderr: string
}

const channels = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4, close: 255 } as const

export class RemoteCommand {
  /** Resolves when the command has ended; rejects when the connection breaks before. */
  readonly exit: Promise<Exit>
  private readonly socket: MessageSocket

  constructor(socket: MessageSocket, options: ExecOptions) {
    this.socket = socket
    this.exit = this.read(options)
    this.exit.catch(() => undefined)
  }

  /** To the command's standard input. Resolves when there is room for more. */
  write(data: Uint8Array | string): Promise<void> {
    return this.socket.send(channelMessage(channels.stdin, bytesOf(data)))
  }

  /** No more input comes. False where the other side cannot be told: that came with the fifth version of the protocol. */
  async endInput(): Promise<boolean> {
    if (!this.socket.protocol.startsWith('v5.')) return false
    await this.socket.send(Uint8Array.of(channels.close, channels.stdin))
    return true
  }

  /** The size of the terminal has changed. */
  resize(width: number, height: number): Promise<void> {
    return this.socket.send(channelMessage(channels.resize, bytesOf(JSON.stringify({ Width: width, Height: height }))))
  }

  close(): void {
    this.socket.close()
  }

  private async read({ onStdout, onStderr }: ExecOptions): Promise<Exit> {
    let status: StatusAnswer | undefined
    for await (const message of this.socket.messages()) {
      const data = message.subarray(1)
      if (message[0] === channels.stdout) await onStdout?.(data)
      else if (message[0] === channels.stderr) await onStderr?.(data)
      else if (message[0] === channels.status && data.length > 0) {
        status = readStatus(data)
        break
      }
    }
    if (status === undefined) throw new ConnectionError('the connection ended before the command did')
    return exitOf(status)
  }
}

function readStatus(data: Uint8Array): StatusAnswer {
  const text = new TextDecoder().decode(data)
  try {
    return JSON.parse(text) as StatusAnswer
  } catch {
    return { status: 'Failure', message: text }
  }
}

function exitOf(status: StatusAnswer): Exit {
  if (status.status === 'Success') return { code: 0, message: '', status }
  const told = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
  return { code: told === undefined ? undefined : Number(told), message: status.message ?? '', status }
}

export async function runToEnd(start: (options: ExecOptions) => Promise<RemoteCommand>): Promise<Ran> {
  const said = { stdout: '', stderr: '' }
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  const take = (stream: keyof typeof said) => (data: Uint8Array) => {
    said[stream] += decoders[stream].decode(data, { stream: true })
  }
  const command = await start({ onStdout: take('stdout'), onStderr: take('stderr') })
  const exit = await command.exit
  return { ...exit, ...said }
}
