// The agent of a node that speaks to WebSockets, as far as tests need it: commands are run on this machine, ports are those of this machine.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'

const key = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Of the protocol, as an agent knows them; older ones do not know the fifth. */
export const knownVersions = ['v4.', 'v5.']

/** For `interceptUpgrade` of the agent: true where it took the connection. */
export function serveSocket(request: IncomingMessage, socket: Duplex): boolean {
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') return false
  const url = new URL(request.url ?? '/', 'http://agent')
  const offered = String(request.headers['sec-websocket-protocol'] ?? '').split(/, */)
  const protocol = offered.find((one) => knownVersions.some((version) => one.startsWith(version))) ?? ''
  const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}${key}`).digest('base64')
  const head = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket', `Sec-WebSocket-Accept: ${accept}`]
  socket.write(`${[...head, ...(protocol === '' ? [] : [`Sec-WebSocket-Protocol: ${protocol}`])].join('\r\n')}\r\n\r\n`)
  socket.on('error', () => socket.destroy())
  if (url.pathname.startsWith('/exec')) runCommand(url, socket, protocol)
  else forwardPort(Number(url.searchParams.get('port') ?? url.searchParams.get('ports')), socket)
  return true
}

function runCommand({ searchParams }: URL, socket: Duplex, protocol: string): void {
  const [command = '', ...args] = searchParams.getAll('command')
  const child = spawn(command, args)
  socket.on('close', () => child.kill())
  // What is written to a command that has ended is lost.
  child.stdin.on('error', () => undefined)
  if (searchParams.get('input') === '1' || searchParams.get('stdin') === 'true')
    onMessages(socket, (data) => {
      if (data[0] === 0) child.stdin.write(data.subarray(1))
      else if (data[0] === 255 && protocol.startsWith('v5.')) child.stdin.end()
    })
  else child.stdin.end()
  child.stdout.on('data', (data: Buffer) => send(socket, 1, data))
  child.stderr.on('data', (data: Buffer) => send(socket, 2, data))
  child.on('close', (code) => {
    const failure = {
      status: 'Failure',
      reason: 'NonZeroExitCode',
      message: `exit code ${code}`,
      details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
    }
    send(socket, 3, Buffer.from(JSON.stringify(code === 0 ? { status: 'Success' } : failure)))
    socket.end(Buffer.from([0x88, 0]))
  })
}

/** The first message of each channel repeats the number of the port. */
function forwardPort(port: number, socket: Duplex): void {
  const number = Buffer.alloc(2)
  number.writeUInt16LE(port)
  for (const channel of [0, 1]) send(socket, channel, number)
  const target = connect(port, '127.0.0.1')
  target.on('data', (data) => send(socket, 0, data))
  target.on('end', () => socket.end(Buffer.from([0x88, 0])))
  target.on('error', () => socket.destroy())
  socket.on('close', () => target.destroy())
  onMessages(
    socket,
    (data) => target.write(data.subarray(1)),
    () => target.end(),
  )
}

function onMessages(socket: Duplex, take: (data: Buffer) => void, end: () => void = () => undefined): void {
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (data: Buffer) => {
    rest = Buffer.concat([rest, data])
    for (let frame = takeFrame(rest); frame !== undefined; frame = takeFrame(rest)) {
      rest = frame.rest
      if (frame.opcode === 8) end()
      else if (frame.opcode <= 2) take(frame.payload)
    }
  })
}

function send(socket: Duplex, channel: number, data: Buffer): void {
  // Frames of less than 64 kB, whose length is written in two bytes.
  for (let at = 0; at === 0 || at < data.length; at += 32_768) sendFrame(socket, channel, data.subarray(at, at + 32_768))
}

function sendFrame(socket: Duplex, channel: number, data: Buffer): void {
  const length = data.length + 1
  const head = length < 126 ? Buffer.from([0x82, length]) : Buffer.from([0x82, 126, length >> 8, length & 255])
  if (!socket.destroyed) socket.write(Buffer.concat([head, Buffer.from([channel]), data]))
}

/** One masked frame, where all of it is there. */
function takeFrame(bytes: Buffer): { readonly opcode: number; readonly payload: Buffer; readonly rest: Buffer } | undefined {
  if (bytes.length < 6) return undefined
  const short = (bytes[1] as number) & 127
  const start = short === 127 ? 10 : short === 126 ? 4 : 2
  if (bytes.length < start + 4) return undefined
  const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short
  const end = start + 4 + length
  if (bytes.length < end) return undefined
  const mask = bytes.subarray(start, start + 4)
  const payload = Buffer.from(bytes.subarray(start + 4, end).map((byte, i) => byte ^ (mask[i % 4] as number)))
  return { opcode: (bytes[0] as number) & 15, payload, rest: bytes.subarray(end) }
}
