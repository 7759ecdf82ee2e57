// Into pods with our client, through the server, to the agent of the node: logs, commands, ports.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { connect, isNotFound, StatusError, type TypedClient } from 'cluster-apiserver/client'
import { build } from 'esbuild'
import { type AgentCluster, startAgentCluster } from '../kit/agent-cluster.js'
import { repoRoot } from '../kit/paths.js'

/** A short frame of a server. */
const frame = (channel: number, text: string): Buffer => Buffer.concat([Buffer.from([0x82, text.length + 1, channel]), Buffer.from(text)])

/** Accepts, and says what it is told to. */
const speaker =
  (...frames: readonly Buffer[]) =>
  (request: IncomingMessage, socket: Duplex): boolean => {
    const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
    const [protocol = ''] = String(request.headers['sec-websocket-protocol']).split(/, */)
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`,
    )
    for (const one of frames) socket.write(one)
    socket.on('error', () => undefined)
    return true
  }

describe('into pods', () => {
  let cluster: AgentCluster
  let client: TypedClient
  before(async () => {
    cluster = await startAgentCluster()
    await cluster.makePod('one')
    client = connect({ file: `${cluster.server.dataDir}/admin.conf` })
  })
  after(async () => {
    client.close()
    await cluster.close()
  })
  const pods = () => client.core.v1.pods('default')

  test('logs', async () => {
    cluster.agent.log('default/one/main', 'first\nsecond ä€\nthird\nfourth\n')
    const text = await pods().log('one', { tailLines: 3 })
    assert.equal(text, 'second ä€\nthird\nfourth\n')
    assert.match(cluster.agent.asked.at(-1)?.url ?? '', /^\/containerLogs\/default\/one\/main\?tailLines=3/)
    let said = ''
    for await (const piece of pods().logs('one', { tailLines: 3 })) said += piece
    assert.equal(said, text)
    await assert.rejects(pods().log('none'), isNotFound)
  })

  test('a command, with what it says and how it ends', async () => {
    const failure = JSON.stringify({ status: 'Failure', message: 'exit 3', details: { causes: [{ reason: 'ExitCode', message: '3' }] } })
    cluster.agent.interceptUpgrade = speaker(frame(1, 'out'), frame(2, 'err'), frame(3, failure))
    const { stdout, stderr, code } = await pods().run('one', ['sh', '-c', 'exit 3'])
    assert.deepEqual([stdout, stderr, code], ['out', 'err', 3])
    assert.match(cluster.agent.asked.at(-1)?.url ?? '', /^\/exec\/default\/one\/main\?command=sh&command=-c&command=exit\+3/)
    await assert.rejects(pods().exec('none', ['ls']), isNotFound)
    await assert.rejects(
      client.as({ user: 'nobody' }).core.v1.pods('default').exec('one', ['ls']),
      (error) => error instanceof StatusError && error.code === 403,
    )
  })

  test('a command from a browser, whose token goes in the name of a protocol', async () => {
    cluster.agent.interceptUpgrade = speaker(frame(1, 'out'), frame(3, JSON.stringify({ status: 'Success' })))
    const program = `import { Client, FetchTransport } from 'cluster-apiserver/client'
const [server, token] = [process.env.SERVER, process.env.TOKEN]
const client = new Client({ transport: new FetchTransport({ server }), credentials: { current: () => ({ authorization: 'Bearer ' + token }) } })
const { stdout, code } = await client.pods('default').run('one', ['ls'])
const refused = await client.pods('default').run('none', ['ls']).catch((error) => error.kind)
console.log(JSON.stringify([stdout, code, refused]))
process.exit()
`
    const { outputFiles } = await build({
      stdin: { contents: program, resolveDir: join(repoRoot, 'test') },
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'browser',
    })
    const folder = mkdtempSync(join(tmpdir(), 'client-page-'))
    try {
      writeFileSync(join(folder, 'page.mjs'), outputFiles[0]?.text ?? '')
      const { url, access } = cluster.server
      const ca = join(cluster.server.dataDir, 'pki', 'ca.crt')
      const env = { ...process.env, SERVER: url, TOKEN: access.token, NODE_EXTRA_CA_CERTS: ca }
      // Node has the browser's class behind this flag, and younger ones without it.
      const { stdout } = await promisify(execFile)(process.execPath, ['--experimental-websocket', join(folder, 'page.mjs')], {
        env,
        timeout: 20_000,
      })
      assert.deepEqual(JSON.parse(stdout), ['out', 0, 'connection'])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test('a port', async () => {
    const number = String.fromCharCode(80, 0)
    cluster.agent.interceptUpgrade = speaker(frame(0, number), frame(1, number), frame(0, 'from the pod'))
    const forward = await pods().portForward('one', [80])
    for await (const data of forward.ports[0]?.data() ?? []) {
      assert.equal(Buffer.from(data).toString(), 'from the pod')
      break
    }
    forward.close()
  })
})
