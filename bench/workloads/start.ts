// Starting: from the command to the first 200 of /readyz, beside a Node process that does nothing.

import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { commandPath } from '../../test/kit/paths.js'
import type { Lab } from '../lab.js'
import { median } from '../measure.js'
import { type Line, milliseconds } from '../report.js'

const pollMs = 2

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

function timeBareNode(): Promise<number> {
  const begin = performance.now()
  return new Promise((resolve) => spawn(process.execPath, ['-e', '0']).on('close', () => resolve(performance.now() - begin)))
}

/** Whether the server answers 200 now. */
function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () =>
      socket.write('GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
    )
    const finish = (isUp: boolean): void => {
      socket.destroy()
      resolve(isUp)
    }
    socket.once('error', () => finish(false))
    socket.once('data', (chunk: Buffer) => finish(chunk.toString('latin1').startsWith('HTTP/1.1 200')))
  })
}

async function timeServer(dataDir: string): Promise<number> {
  const port = await freePort()
  const begin = performance.now()
  const child = spawn(process.execPath, [commandPath, `--secure-port=${port}`, `--data-dir=${dataDir}`], { stdio: 'ignore' })
  const closed = new Promise((resolve) => child.on('close', resolve))
  while (!(await isReady(port))) await new Promise((resolve) => setTimeout(resolve, pollMs))
  const tookMs = performance.now() - begin
  child.kill('SIGTERM')
  await closed
  return tookMs
}

export async function measureStart(lab: Lab): Promise<readonly Line[]> {
  const times = lab.isQuick ? 3 : 9
  const [bare, first, again]: [number[], number[], number[]] = [[], [], []]
  for (let i = 0; i < times; i++) {
    const dataDir = join(lab.folder, `start-${i}`)
    bare.push(await timeBareNode())
    first.push(await timeServer(dataDir))
    again.push(await timeServer(dataDir))
  }
  const floor = milliseconds(median(bare))
  return [
    { workload: 'start to ready, new folder', floor, server: milliseconds(median(first)), note: 'floor: node -e 0; certificates are made' },
    { workload: 'start to ready, used folder', floor, server: milliseconds(median(again)), note: 'floor: node -e 0' },
  ]
}
