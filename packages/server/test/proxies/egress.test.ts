// --egress-selector-config-file: kubelets are reached only through the configured proxy.

import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { expectStatus } from '../../../../test/kit/fixtures.js'
import { type KubeletCluster, startKubeletCluster } from '../../../../test/kit/kubelet/kubelet-cluster.js'
import { opcodes, WebSocketClient, wsHeaders } from '../../../../test/kit/network/web-socket.js'
import { newFolder } from '../../../../test/kit/server-process.js'
import { ConnectProxy } from '../../src/net/outbound/connect-proxy.fixture.js'

const logPath = '/api/v1/namespaces/default/pods/one/log'

describe('a server with an egress proxy for the cluster', () => {
  const folder = newFolder()
  let cluster: KubeletCluster
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
    cluster = await startKubeletCluster({ flags: [`--egress-selector-config-file=${file}`] })
    await cluster.makePod('one')
    cluster.kubelet.log('default/one/main', 'one\n')
  })
  after(async () => {
    await cluster.close()
    proxy.close()
    rmSync(folder, { recursive: true })
  })

  test('reads pod logs through it, also over WebSocket', async () => {
    assert.equal(expectStatus(await cluster.server.client.get(logPath), 200).text, 'one\n')
    assert.equal(proxy.requested.length, 1)
    assert.match(proxy.requested[0] ?? '', /^127\.0\.0\.1:\d+$/)
    const socket = await WebSocketClient.connect(cluster.server.access, logPath, wsHeaders)
    await socket.until(({ isClosed }) => isClosed)
    assert.equal(Buffer.concat(socket.framesOf(opcodes.binary).map(({ payload }) => payload)).toString(), 'one\n')
  })

  test('fails when the proxy refuses', async () => {
    proxy.respond = (socket) => void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    // A WebSocket needs a new connection to the kubelet.
    cluster.kubelet.requests.length = 0
    const path = `/api/v1/namespaces/default/pods/one/exec?command=true&stdout=true`
    const connection = await WebSocketClient.open(cluster.server.access, path, wsHeaders)
    assert.equal('statusCode' in connection && connection.statusCode, 500)
    assert.equal(cluster.kubelet.requests.length, 0)
  })
})
