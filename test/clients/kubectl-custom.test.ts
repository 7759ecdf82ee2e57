// kubectl (Debian) with custom resources.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep, until } from '../kit/fixtures.js'
import { type KubectlFixture, kubectlSuite } from './kubectl-suite.js'
import { widgetDefinition } from './manifests.js'

kubectlSuite({ title: 'kubectl and custom resources' }, (fixture) => {
  test('from CRD to deletion', async () => {
    const { kubectl: unbound, inNewNamespace } = fixture()
    const kubectl = await inNewNamespace()
    assert.match(await kubectl.send('apply -f -', widgetDefinition('tests.example')), /widgets\.tests\.example created/)
    await established(fixture(), 'widgets.tests.example')
    assert.match(await kubectl.ok('get crd widgets.tests.example'), /^widgets\.tests\.example +20/m)
    assert.match(await unbound.ok('api-resources --api-group=tests.example'), /^widgets +wd +tests\.example\/v1 +true +Widget$/m)
    assert.match(await kubectl.send('apply -f -', widget({ size: 3 })), /widget\.tests\.example\/one created/)
    assert.match(await kubectl.ok('get wd'), /^NAME +SIZE\none +3\n$/)
    assert.match(await kubectl.ok('get all -o name'), /^widget\.tests\.example\/one$/m)
    assert.equal(await kubectl.ok('get widget one -o', 'jsonpath={.spec.colour}'), 'green')
    await kubectl.fails('apply -f -', /spec\.size: Invalid value: 12/, widget({ size: 12 }))
    assert.match(await kubectl.send('apply -f -', widget({ size: 4, colour: 'red' })), /configured/)
    assert.match(await kubectl.ok('scale widget one --replicas=5'), /scaled/)
    assert.equal(await kubectl.ok('get widget one -o', 'jsonpath={.spec.size}{.spec.colour}'), '5red')
    assert.match(await kubectl.ok('patch widget one --type=merge -p', '{"spec":{"colour":"blue"}}'), /patched/)
    const server = 'apply --server-side --field-manager=tool -f -'
    await kubectl.fails(server, /conflict/, widget({ size: 6 }))
    assert.match(await kubectl.send(`${server} --force-conflicts`, widget({ size: 6 })), /serverside-applied/)
    assert.match(await kubectl.ok('delete widget one'), /widget\.tests\.example "one" deleted/)
    assert.match(await kubectl.ok('delete crd widgets.tests.example'), /deleted/)
    await kubectl.fails('get widgets', /doesn't have a resource type "widgets"|could not find the requested resource/)
  })

  test('explain', async () => {
    const { kubectl } = fixture()
    // Another kind than in the other test, which runs concurrently.
    await kubectl.send(
      'create -f -',
      JSON.parse(
        JSON.stringify(widgetDefinition('explained.example'))
          .replaceAll('idget', 'izmo')
          .replaceAll('Wizmo', 'Gizmo')
          .replaceAll('wizmo', 'gizmo')
          .replaceAll('"wd"', '"gz"'),
      ),
    )
    await established(fixture(), 'gizmos.explained.example')
    // OpenAPI is updated shortly after the CRD.
    const explain = 'explain gizmos.spec --api-version=explained.example/v1'
    for (let tries = 0; (await kubectl.run(explain)).code !== 0 && tries < 60; tries++) await sleep(250)
    const explained = await kubectl.ok(explain)
    assert.match(explained, /^ +size\t<integer> -required-$/m)
    assert.match(explained, /Size\./)
  })
})

const widget = (spec: Readonly<Record<string, unknown>>) => ({
  apiVersion: 'tests.example/v1',
  kind: 'Widget',
  metadata: { name: 'one' },
  spec,
})

/** First by polling: a new CRD has no conditions, on which `kubectl wait` of old versions fails. */
async function established({ kubectl, server }: KubectlFixture, name: string): Promise<void> {
  await until(
    () => server.client.get(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`),
    ({ text }) => /"type":\s*"Established",\s*"status":\s*"True"/.test(text),
  )
  assert.match(await kubectl.ok(`wait --for=condition=Established crd/${name} --timeout=10s`), /condition met/)
}
