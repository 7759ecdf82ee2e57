// --egress-selector-config-file: nodes are reached through the proxy that it names, and only through it.

import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ConnectProxy } from '../../src/net/connect-proxy.fixture.js'
import { type AgentCluster, startAgentCluster } from '../kit/agent-cluster.js'
import { expectStatus } from '../kit/fixtures.js'
import { newFolder } from '../kit/server-process.js'
import { opcodes, WebSocketClient, wsHeaders } from '../kit/web-socket.js'

const logPath = '/api/v1/namespaces/default/pods/one/log'

describe('a server with a proxy to the cluster', () => {
  const folder = newFolder()
  let cluster: AgentCluster
  let proxy: ConnectProxy
  before(async () => {
    proxy = await ConnectProxy.start({ path: join(folder, 'proxy.sock') })
    const file = join(folder, 'egress.yaml')
    const transport = { uds: { udsName: join(folder, 'proxy.sock') } }
    const egressSelections = [{ name: 'cluster', connection: { proxyProtocol: 'HTTPConnect', transport } }]
    writeFileSync(
      file,
      JSON.stringify({ apiVersion: 'apiserver.cluster.io/v1beta1', kind: 'EgressSelectorConfiguration', egressSelections }),
    )
    cluster = await startAgentCluster({ flags: [`--egress-selector-config-file=${file}`] })
    await cluster.makePod('one')
    cluster.agent.log('default/one/main', 'one\n')
  })
  after(async () => {
    await cluster.close()
    proxy.close()
    rmSync(folder, { recursive: true })
  })

  test('reads logs through it, also over WebSocket', async () => {
    assert.equal(expectStatus(await cluster.server.client.get(logPath), 200).text, 'one\n')
    assert.equal(proxy.asked.length, 1)
    assert.match(proxy.asked[0] ?? '', /^127\.0\.0\.1:\d+$/)
    const socket = await WebSocketClient.connect(cluster.server.access, logPath, wsHeaders)
    await socket.until(({ isClosed }) => isClosed)
    assert.equal(Buffer.concat(socket.of(opcodes.binary).map(({ payload }) => payload)).toString(), 'one\n')
  })

  test('reads none where it says no', async () => {
    proxy.answer = (answering) => void answering.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    // On a connection that was not kept before.
    cluster.agent.asked.length = 0
    const path = `/api/v1/namespaces/default/pods/one/exec?command=true&stdout=true`
    const answer = await WebSocketClient.open(cluster.server.access, path, wsHeaders)
    assert.equal('statusCode' in answer && answer.statusCode, 500)
    assert.equal(cluster.agent.asked.length, 0)
  })
})
