// Fake kubelet over WebSocket: runs exec commands and forwards ports on this machine.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'

/** Appended to the key of the client, as RFC 6455 demands. */
const webSocketGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Supported subprotocol versions; tests remove v5. */
export const supportedVersions = ['v4.', 'v5.']

/** Handles Upgrade requests to the test kubelet; returns false if the request is not for a WebSocket. */
export function serveKubeletSocket(request: IncomingMessage, socket: Duplex): boolean {
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') return false
  const url = new URL(request.url ?? '/', 'http://kubelet')
  const offered = String(request.headers['sec-websocket-protocol'] ?? '').split(/, */)
  const protocol = offered.find((name) => supportedVersions.some((version) => name.startsWith(version))) ?? ''
  const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}${webSocketGuid}`).digest('base64')
  const head = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket', `Sec-WebSocket-Accept: ${accept}`]
  socket.write(`${[...head, ...(protocol === '' ? [] : [`Sec-WebSocket-Protocol: ${protocol}`])].join('\r\n')}\r\n\r\n`)
  socket.on('error', () => socket.destroy())
  if (url.pathname.startsWith('/exec')) runCommand(url.searchParams.getAll('command'), url, socket, protocol)
  else if (url.pathname.startsWith('/attach')) runCommand(attachedCommand, url, socket, protocol)
  else forwardPort(Number(url.searchParams.get('port') ?? url.searchParams.get('ports')), socket)
  return true
}

/** Main process of every container, for attach. */
const attachedCommand = ['sh', '-c', 'echo attached; while read line; do echo "echo $line"; done; exit 4']

function runCommand([command = '', ...args]: readonly string[], { searchParams }: URL, socket: Duplex, protocol: string): void {
  const child = spawn(command, args)
  socket.on('close', () => child.kill())
  // Ignores writes after the command has ended.
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

/** The first message of each channel is the port number. */
function forwardPort(port: number, socket: Duplex): void {
  const portBytes = Buffer.alloc(2)
  portBytes.writeUInt16LE(port)
  for (const channel of [0, 1]) send(socket, channel, portBytes)
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

function onMessages(socket: Duplex, onData: (data: Buffer) => void, end: () => void = () => undefined): void {
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (data: Buffer) => {
    rest = Buffer.concat([rest, data])
    for (let frame = readFrame(rest); frame !== undefined; frame = readFrame(rest)) {
      rest = frame.rest
      if (frame.opcode === 8) end()
      else if (frame.opcode <= 2) onData(frame.payload)
    }
  })
}

function send(socket: Duplex, channel: number, data: Buffer): void {
  // Frames below 64 KiB need no eight-byte length.
  for (let at = 0; at === 0 || at < data.length; at += 32_768) sendFrame(socket, channel, data.subarray(at, at + 32_768))
}

function sendFrame(socket: Duplex, channel: number, data: Buffer): void {
  const length = data.length + 1
  const head = length < 126 ? Buffer.from([0x82, length]) : Buffer.from([0x82, 126, length >> 8, length & 255])
  if (!socket.destroyed) socket.write(Buffer.concat([head, Buffer.from([channel]), data]))
}

/** Returns one masked frame, or undefined if the frame is incomplete. */
function readFrame(bytes: Buffer): { readonly opcode: number; readonly payload: Buffer; readonly rest: Buffer } | undefined {
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
