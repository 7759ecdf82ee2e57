// kubectl (Debian): roles and bindings, auth can-i, impersonation.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kubectl } from './kubectl.js'
import { kubectlSuite } from './kubectl-suite.js'

/** auth can-i prints "no" and exits with 1. */
async function expectNo(kubectl: Kubectl, line: string): Promise<void> {
  const { code, stdout } = await kubectl.run(`auth can-i ${line}`)
  assert.deepEqual([code, stdout.trim().split(' ')[0]], [1, 'no'], line)
}

kubectlSuite({ title: 'kubectl auth' }, (fixture) => {
  test('create role and rolebinding take effect, and auth can-i reports it', async () => {
    const kubectl = await fixture().inNewNamespace()
    await expectNo(kubectl, 'list pods --as=ann')
    await kubectl.ok('create role reader --verb=get,list --resource=pods,pods/log')
    await kubectl.ok('create rolebinding ann-reads --role=reader --user=ann --group=devs')
    assert.match(await kubectl.ok('auth can-i list pods --as=ann'), /yes/)
    assert.match(await kubectl.ok('auth can-i get pods/log --as=bob --as-group=devs'), /yes/)
    await expectNo(kubectl, 'delete pods --as=ann')
    await expectNo(kubectl, 'list pods --as=ann --all-namespaces')
    assert.match(await kubectl.ok('auth can-i --list --as=ann'), /^pods +\[\] +\[\] +\[get list\]$/m)
    assert.match(await kubectl.ok('auth can-i * *'), /yes/)
    assert.equal((await kubectl.ok('get pods --as=ann')).trim(), '')
    await kubectl.fails('get secrets --as=ann', /secrets is forbidden: User "ann" cannot list resource "secrets" in API group ""/)
    await kubectl.fails('create rolebinding more --clusterrole=cluster-admin --user=ann --as=ann', /forbidden/)
    await kubectl.ok('delete rolebinding ann-reads')
    await expectNo(kubectl, 'list pods --as=ann')
  })

  test('bootstrap ClusterRoles work when bound', async () => {
    const kubectl = await fixture().inNewNamespace()
    await kubectl.ok('create rolebinding eve-edits --clusterrole=edit --user=eve')
    await kubectl.ok('create configmap made --from-literal=a=b --as=eve')
    await kubectl.fails('create role r --verb=get --resource=pods --as=eve', /forbidden/)
    await kubectl.ok('create rolebinding amy-rules --clusterrole=admin --user=amy')
    await kubectl.ok('create role r --verb=get --resource=pods --as=amy')
    await kubectl.fails('create role s --verb=get --resource=nodes --as=amy', /is attempting to grant RBAC permissions not currently held/)
  })
})
