// The command line client of Debian beside the server's own loops: what it deletes takes along what it owns, what it waits for comes about.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../kit/fixtures.js'
import type { ServerProcess } from '../kit/server-process.js'
import type { Kubectl } from './kubectl.js'
import { kubectlSuite } from './kubectl-suite.js'

const configMap = (name: string, more: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...more } })

/** An owner, two that it owns, and one that one of those owns. */
async function makeFamily(server: ServerProcess, kubectl: Kubectl): Promise<void> {
  const path = `/api/v1/namespaces/${kubectl.access.namespace}/configmaps`
  const make = async (name: string, owner?: { readonly name: string; readonly uid: string }) => {
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', blockOwnerDeletion: true, ...owner }
    const answer = await server.client.post(path, configMap(name, owner === undefined ? {} : { ownerReferences: [reference] }))
    assert.equal(answer.status, 201, answer.text)
    return { name, uid: (answer.json.metadata as unknown as { readonly uid: string }).uid }
  }
  const owner = await make('owner')
  const child = await make('child', owner)
  await make('sister', owner)
  await make('grandchild', child)
}

const names = async (kubectl: Kubectl): Promise<string> =>
  (await kubectl.ok('get configmaps -o name'))
    .replaceAll('configmap/', '')
    .replaceAll('\n', ' ')
    .replace(/kube-root-ca\.crt /, '')
    .trim()

kubectlSuite({ title: 'kubectl and the loops of the server' }, (bench) => {
  test('delete --cascade=background', async () => {
    const { server, inNewNamespace } = bench()
    const kubectl = await inNewNamespace()
    await makeFamily(server, kubectl)
    assert.match(await kubectl.ok('delete configmap owner'), /configmap "owner" deleted/)
    await until(
      () => names(kubectl),
      (left) => left === '',
    )
  })

  test('delete --cascade=foreground: when the command ends, all are gone', async () => {
    const { server, inNewNamespace } = bench()
    const kubectl = await inNewNamespace()
    await makeFamily(server, kubectl)
    assert.match(await kubectl.ok('delete configmap owner --cascade=foreground --timeout=30s'), /configmap "owner" deleted/)
    assert.equal(await names(kubectl), '')
  })

  test('delete --cascade=orphan: they stay, and nobody owns them', async () => {
    const { server, inNewNamespace } = bench()
    const kubectl = await inNewNamespace()
    await makeFamily(server, kubectl)
    assert.match(await kubectl.ok('delete configmap owner --cascade=orphan --timeout=30s'), /configmap "owner" deleted/)
    assert.equal(await names(kubectl), 'child grandchild sister')
    assert.equal(await kubectl.ok('get configmap child sister -o', 'jsonpath={.items[*].metadata.ownerReferences}'), '')
    assert.match(await kubectl.ok('get configmap grandchild -o', 'jsonpath={.metadata.ownerReferences[*].name}'), /^child$/)
  })

  test('wait --for=delete of what is collected, and for a condition that a loop writes', async () => {
    const { server, inNewNamespace } = bench()
    const kubectl = await inNewNamespace()
    await makeFamily(server, kubectl)
    const waiting = kubectl.run('wait --for=delete configmap/grandchild --timeout=30s')
    await kubectl.ok('delete configmap owner --wait=false')
    const { code, stderr } = await waiting
    assert.equal(code, 0, stderr)
    const spec = { minAvailable: 1, selector: { matchLabels: { app: 'a' } } }
    await kubectl.send('create -f -', { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'b' }, spec })
    await kubectl.ok('wait --for=condition=DisruptionAllowed=false poddisruptionbudget/b --timeout=20s')
  })

  test('auth reconcile of a role that collects, and what it collects', async () => {
    const { kubectl } = bench()
    const role = (name: string, more: object) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name },
      ...more,
    })
    const collecting = role('collects', {
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'loops.example/to': 'collects' } }] },
      rules: [],
    })
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
    const collected = () => kubectl.ok('get clusterrole collects -o', 'jsonpath={.rules[*].resources[*]}')
    const part = {
      ...role('part', { rules }),
      metadata: { name: 'part', labels: { 'loops.example/to': 'collects' } },
    }
    assert.match(await kubectl.send('auth reconcile -f -', collecting, part), /clusterrole.*collects.*reconciled/s)
    await until(collected, (resources) => resources === 'pods')
    const more = { ...part, rules: [...rules, { apiGroups: [''], resources: ['services'], verbs: ['list'] }] }
    await kubectl.send('auth reconcile -f -', more)
    await until(collected, (resources) => resources === 'pods services')
  })

  test('delete namespace: what it holds goes, whoever owns it', async () => {
    const { server, inNewNamespace } = bench()
    const kubectl = await inNewNamespace()
    await makeFamily(server, kubectl)
    await kubectl.ok('delete configmap owner --cascade=orphan --wait=false')
    assert.match(await kubectl.ok(`delete namespace ${kubectl.access.namespace} --timeout=30s`), /deleted/)
  })
})
