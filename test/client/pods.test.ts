// Into pods with our client, through the server, to the agent of the node: logs, commands, ports.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { connect, isNotFound, StatusError, type TypedClient } from 'cluster-apiserver/client'
import { type AgentCluster, startAgentCluster } from '../kit/agent-cluster.js'

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
