// kubectl (Debian) with resources of an extension API server.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ExtensionServer } from '../../packages/server/test/aggregation/extension-server.js'
import { FlagFiles, newAuthority, newClient } from '../../packages/server/test/security/make-pki.js'
import { sleep } from '../kit/fixtures.js'
import { kubectlSuite } from './kubectl-suite.js'

const files = new FlagFiles()
const proxies = newAuthority('proxies')
const pair = newClient(proxies, 'aggregator')
const flags = [
  `--proxy-client-cert-file=${files.write('proxy.crt', pair.cert)}`,
  `--proxy-client-key-file=${files.write('proxy.key', pair.key)}`,
  `--requestheader-client-ca-file=${files.write('proxies.crt', proxies.cert)}`,
  '--requestheader-allowed-names=aggregator',
  '--requestheader-username-headers=X-Remote-User',
  '--requestheader-group-headers=X-Remote-Group',
  '--requestheader-extra-headers-prefix=X-Remote-Extra-',
]

kubectlSuite({ title: 'kubectl and aggregation', flags }, (fixture) => {
  let extension: ExtensionServer
  before(async () => {
    extension = await ExtensionServer.start('gadgets.example', proxies.cert)
  })
  after(() => {
    extension.close()
    files.remove()
  })

  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'gadgets', namespace: 'default' } }
  const apiService = () => ({
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1.gadgets.example' },
    spec: {
      group: 'gadgets.example',
      version: 'v1',
      groupPriorityMinimum: 2000,
      versionPriority: 10,
      service: { namespace: 'default', name: 'gadgets', port: extension.port },
      caBundle: Buffer.from(extension.ca).toString('base64'),
    },
  })

  test('from APIService to deletion', async () => {
    const { kubectl } = fixture()
    assert.match(await kubectl.send('apply -f -', { ...service, spec: { type: 'ExternalName', externalName: 'localhost' } }), /created/)
    assert.match(await kubectl.send('apply -f -', apiService()), /apiservice\.apiregistration\.k8s\.io\/v1\.gadgets\.example created/)
    assert.match(await kubectl.ok('wait --timeout=20s --for=condition=Available apiservice/v1.gadgets.example'), /condition met/)
    assert.match(await kubectl.ok('get apiservices v1.gadgets.example'), /^v1\.gadgets\.example +default\/gadgets +True +/m)
    assert.match(await kubectl.ok('get apiservices v1.apps'), /^v1\.apps +Local +True +/m)
    assert.match(await kubectl.ok('api-versions'), /^gadgets\.example\/v1$/m)
    assert.match(await kubectl.ok('api-resources --api-group=gadgets.example'), /^gadgets +gd +gadgets\.example\/v1 +true +Gadget$/m)
    const gadget = { apiVersion: 'gadgets.example/v1', kind: 'Gadget', metadata: { name: 'one', namespace: 'default' }, spec: { size: 3 } }
    for (let tries = 0; (await kubectl.run('explain gadgets')).code !== 0 && tries < 240; tries++) await sleep(250)
    assert.match(await kubectl.ok('explain gadgets.spec'), /Size\./)
    assert.match(await kubectl.send('create -f -', gadget), /gadget\.gadgets\.example\/one created/)
    assert.equal(await kubectl.ok('get gd one -n default -o', 'jsonpath={.spec.size}'), '3')
    assert.match(await kubectl.ok('get gadgets -n default'), /^one /m)
    assert.match(await kubectl.ok('delete gadget one -n default --wait=false'), /deleted/)
    const lastRequest = extension.seen.filter(({ url }) => url.includes('/gadgets')).at(-1)
    assert.equal(lastRequest?.client, 'aggregator')
    assert.equal(lastRequest?.headers['x-remote-user'], 'admin')
    assert.match(
      await kubectl.ok('get configmap -n kube-system extension-apiserver-authentication -o yaml'),
      /requestheader-allowed-names: '\["aggregator"\]'/,
    )
    assert.match(await kubectl.ok('delete apiservice v1.gadgets.example'), /deleted/)
    await kubectl.fails(
      'get gadgets --cache-dir=/dev/null/none',
      /doesn't have a resource type "gadgets"|could not find the requested resource/,
    )
  })
})
