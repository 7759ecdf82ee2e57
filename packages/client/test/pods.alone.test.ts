// Exec from a browser bundle through the server to a fake kubelet.

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
import { connect, type TypedClient } from 'cluster-apiserver/client'
import { build } from 'esbuild'
import { type KubeletCluster, startKubeletCluster } from '../../../test/kit/kubelet/kubelet-cluster.js'
import { repoRoot } from '../../../test/kit/paths.js'

/** Unmasked binary WebSocket frame with less than 126 bytes. */
const frame = (channel: number, text: string): Buffer => Buffer.concat([Buffer.from([0x82, text.length + 1, channel]), Buffer.from(text)])

/** Accepts the upgrade and sends the frames. */
const acceptAndSend =
  (...frames: readonly Buffer[]) =>
  (request: IncomingMessage, socket: Duplex): boolean => {
    const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
    const [protocol = ''] = String(request.headers['sec-websocket-protocol']).split(/, */)
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`,
    )
    for (const each of frames) socket.write(each)
    socket.on('error', () => undefined)
    return true
  }

describe('exec', () => {
  let cluster: KubeletCluster
  let client: TypedClient
  before(async () => {
    cluster = await startKubeletCluster()
    await cluster.makePod('one')
    client = connect({ file: `${cluster.server.dataDir}/admin.conf` })
  })
  after(async () => {
    client.close()
    await cluster.close()
  })

  test('from a browser, with the token as a subprotocol', async () => {
    cluster.kubelet.interceptUpgrade = acceptAndSend(frame(1, 'out'), frame(3, JSON.stringify({ status: 'Success' })))
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
      // Node.js 20 has WebSocket behind this flag.
      const { stdout } = await promisify(execFile)(process.execPath, ['--experimental-websocket', join(folder, 'page.mjs')], {
        env,
        timeout: 20_000,
      })
      assert.deepEqual(JSON.parse(stdout), ['out', 0, 'connection'])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
