// `drain`: which pods it evicts, its messages in their order, retries of blocked evictions, timeouts.

import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { useServer } from './harness.js'

const start = useServer()
const namespace = 'default'

describe('drain', { concurrency: 1 }, () => {
  beforeEach(async () => {
    const { core, policy } = start().server.client
    for (const { metadata } of (await policy.v1.podDisruptionBudgets(namespace).list()).items)
      await policy.v1.podDisruptionBudgets(namespace).delete(metadata?.name ?? '')
    for (const { metadata } of (await core.v1.pods(namespace).list()).items)
      await core.v1.pods(namespace).delete(metadata?.name ?? '', { gracePeriodSeconds: 0 })
    for (const { metadata } of (await core.v1.nodes().list()).items) await core.v1.nodes().delete(metadata?.name ?? '')
    for (const name of ['east', 'west']) await core.v1.nodes().create({ metadata: { name, labels: { zone: name } } })
  })

  interface PodParts {
    readonly node?: string
    readonly owner?: string
    readonly emptyDir?: boolean
    readonly phase?: string
    readonly annotations?: { readonly [name: string]: string }
    readonly graceSeconds?: number
  }

  async function makePod(name: string, { node = 'east', owner, emptyDir = false, phase, annotations = {}, graceSeconds = 0 }: PodParts) {
    const { core } = start().server.client
    // The garbage collector cannot resolve this apiVersion, so it keeps the pod.
    const ownerReferences =
      owner === undefined ? [] : [{ apiVersion: 'example.com/v1', kind: owner, name: 'owner', uid: 'u', controller: true }]
    const pods = core.v1.pods(namespace)
    await pods.create({
      metadata: { name, labels: { name }, ownerReferences, annotations },
      spec: {
        nodeName: node,
        terminationGracePeriodSeconds: graceSeconds,
        containers: [{ name: 'main', image: 'x' }],
        ...(emptyDir ? { volumes: [{ name: 'data', emptyDir: {} }] } : {}),
      },
    })
    if (phase !== undefined) await pods.status.patch(name, { status: { phase } })
  }

  const podNames = async (): Promise<readonly string[]> =>
    (await start().server.client.core.v1.pods(namespace).list()).items.map(({ metadata }) => metadata?.name ?? '')

  test('cordons the node, evicts its pods and waits until they are gone', async () => {
    const { runHere, server } = start()
    await makePod('web', { owner: 'ReplicaSet' })
    await makePod('other', { node: 'west', owner: 'ReplicaSet' })
    assert.deepEqual(await runHere(['drain', 'east']), {
      code: 0,
      stdout: 'node/east cordoned\nevicting pod default/web\npod/web evicted\nnode/east drained\n',
      stderr: '',
    })
    assert.deepEqual(await podNames(), ['other'])
    assert.equal((await server.client.core.v1.nodes().get('east')).spec?.unschedulable, true)
    assert.equal((await runHere(['drain', 'node/east'])).stdout, 'node/east already cordoned\nnode/east drained\n')
    assert.equal(
      (await runHere(['drain', '-l', 'zone=west', '--disable-eviction'])).stdout,
      'node/west cordoned\npod/other deleted\nnode/west drained\n',
    )
    assert.deepEqual(await podNames(), [])
  })

  test('refuses pods without a controller, with emptyDir and of DaemonSets', async () => {
    const { runHere } = start()
    await makePod('bare', {})
    await makePod('local', { owner: 'ReplicaSet', emptyDir: true })
    await makePod('ended', { phase: 'Succeeded', emptyDir: true })
    await makePod('mirror', { annotations: { 'cluster.io/config.mirror': 'x' } })
    const refused = await runHere(['drain', 'east'])
    const texts = [
      'cannot delete Pods declare no controller (use --force to override): default/bare',
      'cannot delete Pods with local storage (use --delete-emptydir-data to override): default/local',
    ]
    assert.deepEqual(refused, {
      code: 1,
      stdout: 'node/east cordoned\n',
      stderr: `error: unable to drain node "east" due to error:[${texts.join(', ')}], continuing command...\nThere are pending nodes to be drained:\n east\n${texts.join('\n')}\n`,
    })
    assert.equal((await podNames()).length, 4, 'a refused drain evicts no pod')
    const forced = await runHere(['drain', 'east', '--force', '--delete-emptydir-data'])
    assert.equal(forced.code, 0, forced.stderr)
    assert.equal(forced.stderr, 'Warning: deleting Pods that declare no controller: default/bare\n')
    assert.deepEqual(await podNames(), ['mirror'])
  })

  test('pods of DaemonSets stay; --force evicts pods of a missing one', async () => {
    const { runHere, server } = start()
    const daemonSets = server.client.apps.v1.daemonSets(namespace)
    await makePod('agent', { owner: 'DaemonSet' })
    const missing = await runHere(['drain', 'east', '--ignore-daemonsets'])
    assert.match(missing.stderr, /cannot delete daemonsets\.apps "owner" not found: default\/agent\n$/)
    const template = { metadata: { labels: { app: 'ds' } }, spec: { containers: [{ name: 'ds', image: 'x' }] } }
    await daemonSets.create({ metadata: { name: 'owner' }, spec: { selector: { matchLabels: { app: 'ds' } }, template } })
    const refused = await runHere(['drain', 'east'])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /\ncannot delete DaemonSet-managed Pods \(use --ignore-daemonsets to ignore\): default\/agent\n$/)
    assert.deepEqual(await runHere(['drain', 'east', '--ignore-daemonsets']), {
      code: 0,
      stdout: 'node/east already cordoned\nnode/east drained\n',
      stderr: 'Warning: ignoring DaemonSet-managed Pods: default/agent\n',
    })
    await daemonSets.delete('owner')
    assert.equal(
      (await runHere(['drain', 'east', '--force'])).stdout,
      'node/east already cordoned\nevicting pod default/agent\npod/agent evicted\nnode/east drained\n',
    )
  })

  test('a dry run prints the evictions and sends none', async () => {
    const { runHere } = start()
    await makePod('web', { owner: 'ReplicaSet' })
    for (const [mode, note] of [
      ['client', '(dry run)'],
      ['server', '(server dry run)'],
    ] as const)
      assert.equal(
        (await runHere(['drain', 'east', `--dry-run=${mode}`])).stdout,
        `node/east cordoned ${note}\nevicting pod default/web ${note}\nnode/east drained ${note}\n`,
      )
    assert.deepEqual(await podNames(), ['web'])
  })

  test('--pod-selector, --timeout and --grace-period', async () => {
    const { runHere } = start()
    await makePod('one', { owner: 'ReplicaSet' })
    await makePod('slow', { owner: 'ReplicaSet', graceSeconds: 3600 })
    assert.equal((await runHere(['drain', 'east', '--pod-selector=name=one'])).code, 0)
    assert.deepEqual(await podNames(), ['slow'])
    const timedOut = await runHere(['drain', 'east', '--timeout=300ms'])
    assert.equal(timedOut.code, 1)
    const text = 'error when waiting for pod "slow" in namespace "default" to terminate: global timeout reached: 300ms'
    assert.equal(
      timedOut.stderr,
      `There are pending pods in node "east" when an error occurred: ${text}\npod/slow\nerror: unable to drain node "east" due to error:${text}, continuing command...\nThere are pending nodes to be drained:\n east\n${text}\n`,
    )
    // Without a kubelet, only a deletion with grace period 0 removes the pod.
    assert.equal((await runHere(['drain', 'east', '--grace-period=0'])).code, 0)
    assert.deepEqual(await podNames(), [])
    assert.match((await runHere(['drain', 'east', '--pod-selector=a=(b'])).stderr, /unable to parse|invalid|selector/)
  })

  test('an eviction that a PodDisruptionBudget forbids is retried until the timeout', async () => {
    const { runHere, server } = start()
    await server.client.policy.v1
      .podDisruptionBudgets(namespace)
      .create({ metadata: { name: 'all' }, spec: { minAvailable: 1, selector: { matchLabels: { name: 'web' } } } })
    await makePod('web', { owner: 'ReplicaSet', phase: 'Running' })
    const { code, stdout, stderr } = await runHere(['drain', 'east', '--timeout=500ms'])
    assert.equal(code, 1)
    assert.equal(stdout, 'node/east cordoned\nevicting pod default/web\nevicting pod default/web\n')
    assert.match(
      stderr,
      /^error when evicting pods\/"web" -n "default" \(will retry after 5s\): Cannot evict pod as it would violate the pod's disruption budget\.\n/,
    )
    assert.match(stderr, /\nerror when evicting pods\/"web" -n "default": global timeout reached: 500ms\n$/)
    assert.deepEqual(await podNames(), ['web'])
    assert.equal((await runHere(['drain', 'east', '--disable-eviction'])).code, 0)
    assert.deepEqual(await podNames(), [])
  })

  test('nodes and selectors exclude each other, and missing nodes are errors', async () => {
    const { runHere } = start()
    assert.match((await runHere(['drain'])).stderr, /USAGE: drain NODE \[flags\]/)
    assert.match((await runHere(['drain', 'east', '-l', 'a=b'])).stderr, /cannot specify both a node name and a --selector option/)
    assert.match((await runHere(['drain', 'none'])).stderr, /^Error from server \(NotFound\): nodes "none" not found/)
  })
})
