// Credential plugin against a server, with kubectl and with the client.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connect } from 'cluster-apiserver/client'
import { Kubectl } from '../../../test/clients/kubectl.js'
import { obtainKubectl } from '../../../test/clients/obtain-kubectl.js'
import { until } from '../../../test/kit/fixtures.js'
import { ServerProcess } from '../../../test/kit/server-process.js'
import { newAuthority, newClient } from '../../server/test/security/make-pki.js'

const kubectlCommand = await obtainKubectl()
// Debian's kubectl supports v1beta1 only.
const apiVersion = 'client.authentication.k8s.io/v1beta1'

describe('credential plugin', () => {
  const folder = mkdtempSync(join(tmpdir(), 'credential-plugin-'))
  const log = join(folder, 'runs.log')
  const outputFile = join(folder, 'credential.json')
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
    writeFileSync(plugin, `#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" >> ${log}\ncat ${outputFile}\n`, { mode: 0o755 })
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

  const setOutput = (status: object): void => writeFileSync(outputFile, JSON.stringify({ kind: 'ExecCredential', apiVersion, status }))
  const runs = (): readonly string[] => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
  const clearRuns = (): void => rmSync(log, { force: true })
  test('kubectl runs it once per command and rejects bad credentials', { skip: kubectlCommand.skip }, async () => {
    clearRuns()
    setOutput({ token: 'first' })
    const kubectl = new Kubectl({ command: kubectlCommand.path, clientConfiguration: configuration, home: folder, minor: 20 })
    await kubectl.ok('create configmap by-kubectl --namespace=default')
    assert.equal(runs().length, 1)
    const info = JSON.parse(runs()[0] ?? '') as { kind: string; apiVersion: string; spec: { cluster: { server: string } } }
    assert.deepEqual([info.kind, info.apiVersion, info.spec.cluster.server], ['ExecCredential', apiVersion, server.url])
    setOutput({ token: 'nobody' })
    await kubectl.fails('get configmaps --namespace=default', /logged in|Unauthorized/)
    setOutput({})
    await kubectl.fails('get configmaps --namespace=default', /token or cert\/key pair/)
  })

  test('a new certificate closes connections with the old one', async (t) => {
    clearRuns()
    const [alice, bob] = ['alice', 'bob'].map((name) => newClient(authority, name, { organizations: ['system:masters'] }))
    const certificate = (pair: typeof alice, seconds: number): void =>
      setOutput({
        clientCertificateData: pair?.cert,
        clientKeyData: pair?.key,
        expirationTimestamp: new Date(Date.now() + seconds * 1000).toISOString().replace(/\.\d+/, ''),
      })
    certificate(alice, 3)
    const client = connect({ file: configuration, clusterEntry: { 'proxy-url': '' } })
    t.after(() => client.close())
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
