// One credential plugin through our client and through kubectl: the same program, the same user, the same number of runs.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connect, isUnauthorized } from 'cluster-apiserver/client'
import { timedTest } from '../../src/base/timed-test.fixture.js'
import { Kubectl } from '../clients/kubectl.js'
import { obtainKubectl } from '../clients/obtain-kubectl.js'
import { until } from '../kit/fixtures.js'
import { ServerProcess } from '../kit/server-process.js'
import { newAuthority, newClient } from '../security/make-pki.js'

const kubectlCommand = await obtainKubectl()
// Debian's command knows no younger version than this one.
const apiVersion = 'client.authentication.k8s.io/v1beta1'

describe('a credential plugin', () => {
  const folder = mkdtempSync(join(tmpdir(), 'credential-plugin-'))
  const log = join(folder, 'runs.log')
  const answer = join(folder, 'answer.json')
  const configuration = join(folder, 'config')
  const authority = newAuthority('clients')
  let server: ServerProcess
  before(async () => {
    const tokens = join(folder, 'tokens.csv')
    writeFileSync(tokens, 'first,alice,1,"system:masters"\nsecond,bob,2,"system:masters"\n')
    const ca = join(folder, 'ca.crt')
    writeFileSync(ca, authority.cert)
    server = await ServerProcess.start({ flags: ['--identity=kubernetes', `--token-auth-file=${tokens}`, `--client-ca-file=${ca}`] })
    const plugin = join(folder, 'plugin')
    writeFileSync(plugin, `#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" >> ${log}\ncat ${answer}\n`, { mode: 0o755 })
    writeFileSync(
      configuration,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'c', cluster: { server: server.url, 'certificate-authority': join(server.dataDir, 'pki', 'ca.crt') } }],
        users: [
          {
            name: 'u',
            user: { exec: { apiVersion, command: './plugin', args: null, env: null, provideClusterInfo: true, interactiveMode: 'Never' } },
          },
        ],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    )
  })
  after(async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const give = (status: object): void => writeFileSync(answer, JSON.stringify({ kind: 'ExecCredential', apiVersion, status }))
  const runs = (): readonly string[] => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
  const forget = (): void => rmSync(log, { force: true })
  test('through our client: told of the cluster, run once, run again when refused', async () => {
    give({ token: 'first' })
    const client = connect({ file: configuration })
    await Promise.all(['a', 'b', 'c'].map((name) => client.core.v1.configMaps('default').create({ metadata: { name } })))
    assert.equal(runs().length, 1)
    const told = JSON.parse(runs()[0] ?? '') as {
      spec: { interactive: boolean; cluster: { server: string; 'certificate-authority-data': string } }
    }
    assert.equal(told.spec.interactive, false)
    assert.equal(told.spec.cluster.server, server.url)
    assert.match(Buffer.from(told.spec.cluster['certificate-authority-data'], 'base64').toString(), /BEGIN CERTIFICATE/)
    client.close()
  })

  test('through kubectl the same', { skip: kubectlCommand.skip }, async () => {
    forget()
    give({ token: 'first' })
    const kubectl = new Kubectl({ command: kubectlCommand.path, clientConfiguration: configuration, home: folder, minor: 20 })
    await kubectl.ok('create configmap by-kubectl --namespace=default')
    assert.equal(runs().length, 1)
    const told = JSON.parse(runs()[0] ?? '') as { kind: string; apiVersion: string; spec: { cluster: { server: string } } }
    assert.deepEqual([told.kind, told.apiVersion, told.spec.cluster.server], ['ExecCredential', apiVersion, server.url])
    give({ token: 'nobody' })
    await kubectl.fails('get configmaps --namespace=default', /logged in|Unauthorized/)
    give({})
    await kubectl.fails('get configmaps --namespace=default', /token or cert\/key pair/)
  })

  test('a token that is refused is replaced, and the request sent again', async () => {
    forget()
    give({ token: 'nobody' })
    // Another cluster for the cache of credentials, which is kept for the process.
    const client = connect({ file: configuration, clusterEntry: { 'tls-server-name': 'localhost' } })
    await assert.rejects(client.core.v1.configMaps('default').list(), isUnauthorized)
    assert.equal(runs().length, 2)
    give({ token: 'second' })
    assert.ok((await client.core.v1.configMaps('default').list()).items.length > 0)
    assert.equal(runs().length, 3)
    await client.core.v1.configMaps('default').list()
    assert.equal(runs().length, 3)
    client.close()
  })

  timedTest('another certificate closes the connections of the one before', async (attempt) => {
    forget()
    const [alice, bob] = ['alice', 'bob'].map((name) => newClient(authority, name, { organizations: ['system:masters'] }))
    const certificate = (pair: typeof alice, seconds: number): void =>
      give({
        clientCertificateData: pair?.cert,
        clientKeyData: pair?.key,
        expirationTimestamp: new Date(Date.now() + seconds * 1000).toISOString().replace(/\.\d+/, ''),
      })
    certificate(alice, 3)
    const client = connect({ file: configuration, clusterEntry: { 'proxy-url': '' } })
    attempt.after(() => client.close())
    const maps = client.core.v1.configMaps('default')
    const first = await maps.openWatch({ resourceVersion: (await maps.list()).metadata.resourceVersion ?? '' })
    let hasBroken = false
    const watching = (async () => {
      for await (const _ of first);
    })().catch(() => {
      hasBroken = true
    })
    certificate(bob, 3600)
    await until(
      async () => {
        await maps.list()
        return runs().length
      },
      (count) => count >= 2,
    )
    await maps.list()
    await watching
    assert.equal(hasBroken, true)
  })
})
