// Start time from the command to the first 200 of /readyz, compared with a Node.js process that only listens with TLS.

import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { commandPath } from '../../test/kit/paths.js'
import type { Lab } from '../lab.js'
import { median } from '../measure.js'
import { plainEnvironment } from '../plain-environment.js'
import { type Line, milliseconds } from '../report.js'

const pollMs = 2
const bar = 2.5

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

/** True if the server responds with 200. */
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

async function timeStart(argvFor: (port: number) => readonly string[]): Promise<number> {
  const port = await freePort()
  const begin = performance.now()
  const child = spawn(process.execPath, argvFor(port), { stdio: 'ignore', env: plainEnvironment() })
  const closed = new Promise((resolve) => child.on('close', resolve))
  while (!(await isReady(port))) await new Promise((resolve) => setTimeout(resolve, pollMs))
  const tookMs = performance.now() - begin
  child.kill('SIGTERM')
  await closed
  return tookMs
}

/** Uses the certificate of an earlier server. */
const timeListener = (pki: string): Promise<number> =>
  timeStart((port) => {
    const file = (name: string): string => `fs.readFileSync(${JSON.stringify(join(pki, name))})`
    const options = `{ cert: ${file('serving.crt')}, key: ${file('serving.key')} }`
    return ['-e', `require('https').createServer(${options}, (request, response) => response.end('ok')).listen(${port}, '127.0.0.1')`]
  })

const timeServer = (dataDir: string): Promise<number> =>
  timeStart((port) => [commandPath, `--secure-port=${port}`, `--data-dir=${dataDir}`])

export async function measureStart(lab: Lab): Promise<readonly Line[]> {
  const rounds = lab.isQuick ? 5 : 15
  const [bare, first, again]: [number[], number[], number[]] = [[], [], []]
  for (let i = 0; i < rounds; i++) {
    const dataDir = join(lab.folder, `start-${i}`)
    first.push(await timeServer(dataDir))
    bare.push(await timeListener(join(dataDir, 'pki')))
    again.push(await timeServer(dataDir))
  }
  const floor = median(bare)
  const line = (folder: string, timesMs: readonly number[]): Line => ({
    workload: `start to ready, ${folder} folder`,
    floor: milliseconds(floor),
    server: milliseconds(median(timesMs)),
    ratio: median(timesMs) / floor,
    bar,
  })
  return [line('new', first), line('used', again)]
}
