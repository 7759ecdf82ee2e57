// The root CA ConfigMap in every namespace, and the flag that switches its controller off.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from 'cluster-apiserver'
import { startEmbedded } from '../../../test/kit/embedded.js'
import { configMaps, expectStatus, newNamespace, sleep, untilStatus } from '../../../test/kit/fixtures.js'

for (const [identity, name] of [
  ['cluster', 'cluster-root-ca.crt'],
  ['kubernetes', 'kube-root-ca.crt'],
] as const) {
  test(`${name} is created when it is read in any namespace, and contains the CA of the server`, async (t) => {
    const { server, client, close } = await startEmbedded('memory', [`--identity=${identity}`])
    t.after(close)
    const fresh = await newNamespace(client)
    const dataIn = async (namespace: string) => (await client.get(configMaps(namespace, name))).json.data
    assert.deepEqual((await client.get(configMaps(fresh))).json.items, [])
    for (const namespace of ['default', identity === 'cluster' ? 'cluster-system' : 'kube-system', fresh])
      assert.deepEqual(await dataIn(namespace), { 'ca.crt': server.caPem })
    expectStatus(await client.delete(configMaps(fresh, name)), 200)
    const byName = `fieldSelector=metadata.name%3D${name}`
    assert.equal((await client.get(`${configMaps(fresh)}?${byName}`)).json.items?.length, 1, 'a list by name finds it')
    expectStatus(await client.delete(configMaps(fresh, name)), 200)
    const watch = await client.watch(`${configMaps(fresh)}?watch=1&${byName}`)
    await watch.atLeast(1)
    assert.equal(watch.summary(), `ADDED ${name}`)
    watch.close()
    expectStatus(await client.get(configMaps('no-such-namespace', name)), 404)
    expectStatus(await client.delete(`/api/v1/namespaces/${fresh}`), 200)
    await untilStatus(() => client.get(`/api/v1/namespaces/${fresh}`), 404)
  })
}

test('a controller can be switched off', async (t) => {
  const { client, close } = await startEmbedded('memory', ['--controllers=*,-root-ca-cert-publisher'])
  t.after(close)
  const fresh = await newNamespace(client)
  await untilStatus(() => client.get(`/api/v1/namespaces/${fresh}/serviceaccounts/default`), 200)
  await sleep(100)
  expectStatus(await client.get(configMaps(fresh, 'cluster-root-ca.crt')), 404)
  await assert.rejects(startServer({ flags: ['--controllers=no-such-loop'] }), /--controllers/)
})
