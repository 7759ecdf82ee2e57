// `rollout`, `certificate` and `events`. No controllers of workloads run: the tests create ReplicaSets, ControllerRevisions and status.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { plainStyle } from '../src/command-line/io.js'
import { main } from '../src/main.js'
import { signingRequest } from './certificate-signing-request.js'
import { useServer } from './harness.js'

const start = useServer()
const namespace = 'default'

test('rollout history, undo, restart, pause and status', async () => {
  const { ok, run, server } = start()
  const { deployments, replicaSets } = server.client.apps.v1
  const template = (image: string, labels: object = {}) => ({
    metadata: { labels: { app: 'web', ...labels } },
    spec: { containers: [{ name: 'web', image }] },
  })
  const created = await deployments(namespace).create({
    metadata: { name: 'web' },
    spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: template('web:3') },
  })
  assert.match(await ok('rollout', 'history', 'deployment/web'), /^deployment\.apps\/web \nNo rollout history found\.\n$/)
  assert.match((await run(['rollout', 'undo', 'deployment/web'])).stderr, /no rollout history found for deployment "web"/)
  for (const revision of [1, 2, 3])
    await replicaSets(namespace).create({
      metadata: {
        name: `web-${revision}`,
        labels: { app: 'web', 'pod-template-hash': `h${revision}` },
        annotations: {
          'deployment.cluster.io/revision': String(revision),
          ...(revision === 2 ? { 'cluster.io/change-cause': 'a second try' } : {}),
        },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: created.metadata?.uid ?? '', controller: true }],
      },
      spec: {
        selector: { matchLabels: { app: 'web', 'pod-template-hash': `h${revision}` } },
        template: template(`web:${revision}`, { 'pod-template-hash': `h${revision}` }),
      },
    })
  assert.equal(
    await ok('rollout', 'history', 'deployment/web'),
    'deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         <none>\n2         a second try\n3         <none>\n\n',
  )
  assert.match(
    await ok('rollout', 'history', 'deployment/web', '--revision=2'),
    /with revision #2\nPod Template:\n[\s\S]*Annotations:\tcluster\.io\/change-cause: a second try\n {2}Containers:\n {3}web:\n {4}Image:\tweb:2\n/,
  )
  assert.match((await run(['rollout', 'history', 'deployment/web', '--revision=9'])).stderr, /revisions: 1, 2, 3/)
  assert.equal(
    await ok('rollout', 'history', 'deployment/web', '-o', 'name'),
    [1, 2, 3].map((revision) => `replicaset.apps/web-${revision}\n`).join(''),
  )
  const documents = await ok('rollout', 'history', 'deployment', '-o', 'yaml')
  assert.equal(documents.split('---\n').length, 3)
  assert.match(documents, /^apiVersion: apps\/v1\nkind: ReplicaSet\n/)
  assert.equal(
    await ok('rollout', 'history', 'deployment/web', '--revision=2', '-o', 'jsonpath={.spec.template.spec.containers[0].image}'),
    'web:2',
  )
  assert.match(
    (await run(['rollout', 'status', 'deployment/web', '--revision=3', '--watch=false'])).stderr,
    /desired revision \(3\) is different from the running revision \(0\)/,
  )
  const imageNow = async (): Promise<unknown> => {
    const { spec } = await deployments(namespace).get('web')
    assert.deepEqual(spec?.template?.metadata?.labels, { app: 'web' }, 'undo does not copy the pod-template-hash label to the deployment')
    return spec?.template?.spec?.containers?.[0]?.image
  }
  assert.equal(await ok('rollout', 'undo', 'deployment/web'), 'deployment.apps/web rolled back\n')
  assert.equal(await imageNow(), 'web:2')
  assert.equal(await ok('rollout', 'undo', 'deployment/web', '--to-revision=1'), 'deployment.apps/web rolled back\n')
  assert.equal(await imageNow(), 'web:1')
  assert.equal(
    await ok('rollout', 'undo', 'deployment/web', '--to-revision=1'),
    'deployment.apps/web skipped rollback (current template already matches revision 1)\n',
  )
  assert.match((await run(['rollout', 'undo', 'deployment/web', '--to-revision=7'])).stderr, /unable to find specified revision 7/)

  assert.equal(await ok('rollout', 'restart', 'deployment', 'web'), 'deployment.apps/web restarted\n')
  const restarted = await deployments(namespace).get('web')
  assert.match(Object.keys(restarted.spec?.template?.metadata?.annotations ?? {}).join(), /restartedAt$/)
  await ok('rollout', 'pause', 'deployment/web')
  assert.match((await run(['rollout', 'restart', 'deployment/web'])).stderr, /can't be restarted while it is paused/)
  assert.match((await run(['rollout', 'undo', 'deployment/web'])).stderr, /you cannot roll back a paused deployment/)
  await ok('rollout', 'resume', 'deployment/web')
  assert.match((await run(['rollout', 'status', 'ns/default'])).stderr, /has no rollout/)

  const status = run(['rollout', 'status', 'deployment/web', '--timeout=60s'])
  const { metadata } = await deployments(namespace).get('web')
  const report = (values: object) =>
    deployments(namespace).status.patch('web', { status: { observedGeneration: metadata?.generation ?? 0, ...values } })
  await report({ replicas: 2, updatedReplicas: 1 })
  await report({ replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 })
  const { code, stdout } = await status
  assert.equal(code, 0)
  assert.match(stdout, /deployment "web" successfully rolled out\n$/)
  await deployments(namespace).patch('web', { spec: { replicas: 3 } })
  assert.match(await ok('rollout', 'status', 'deployment/web', '--watch=false'), /^Waiting for deployment spec update to be observed/)
  const timedOut = await run(['rollout', 'status', 'deployment/web', '--timeout=200ms'])
  assert.match(timedOut.stderr, /timed out|condition not met/)
  assert.equal(timedOut.code, 1)
})

test('rollout history and undo with ControllerRevisions', async () => {
  const { server, runHere } = start()
  const { daemonSets, controllerRevisions } = server.client.apps.v1
  const template = (image: string) => ({ metadata: { labels: { app: 'ds' } }, spec: { containers: [{ name: 'ds', image }] } })
  const created = await daemonSets(namespace).create({
    metadata: { name: 'ds' },
    spec: { selector: { matchLabels: { app: 'ds' } }, template: template('ds:2') },
  })
  for (const revision of [1, 2])
    await controllerRevisions(namespace).create({
      metadata: {
        name: `ds-${revision}`,
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'ds', uid: created.metadata?.uid ?? '', controller: true }],
      },
      revision,
      data: { spec: { template: { $patch: 'replace', ...template(`ds:${revision}`) } } },
    } as never)
  const shown = await runHere(['rollout', 'history', 'ds/ds', '--revision=1', '-o', 'jsonpath={.kind} {.spec.template}'])
  assert.match(shown.stdout, /^DaemonSet \{(?!.*\$patch).*"image":"ds:1"/)
  assert.deepEqual(await runHere(['rollout', 'undo', 'daemonset']), { code: 0, stdout: 'daemonset.apps/ds rolled back\n', stderr: '' })
  assert.equal((await daemonSets(namespace).get('ds')).spec?.template?.spec?.containers?.[0]?.image, 'ds:1')
})

test('certificate approve and deny exclude each other', async () => {
  const { ok, run, server } = start()
  const requests = server.client.certificates.v1.certificateSigningRequests()
  for (const name of ['good', 'bad'])
    await requests.create({
      metadata: { name },
      spec: { request: Buffer.from(signingRequest).toString('base64'), signerName: 'example.com/tests', usages: ['client auth'] },
    })
  const conditionsOf = async (name: string): Promise<readonly unknown[]> =>
    ((await requests.get(name)).status?.conditions ?? []).map(({ type, status, reason }) => [type, status, reason])
  const kindName = 'certificatesigningrequest.certificates.cluster.io'
  assert.equal(await ok('certificate', 'approve', 'good'), `${kindName}/good approved\n`)
  assert.deepEqual(await conditionsOf('good'), [['Approved', 'True', 'KubectlApprove']])
  assert.equal(await ok('certificate', 'approve', 'good'), `${kindName}/good approved\n`)
  assert.equal((await conditionsOf('good')).length, 1)
  assert.equal(await ok('certificate', 'deny', 'csr/bad'), `${kindName}/bad denied\n`)
  assert.deepEqual(await conditionsOf('bad'), [['Denied', 'True', 'KubectlDeny']])
  const mixed = await run(['certificate', 'approve', 'bad', 'none', 'good'])
  assert.equal(mixed.code, 1)
  assert.match(mixed.stderr, /bad is already Denied[\s\S]*"none" not found/)
  assert.equal(mixed.stdout, `${kindName}/good approved\n`)
})

test('events: --for, --types, -o and -w', async () => {
  const { ok, run, server, folder } = start()
  const events = server.client.core.v1.events(namespace)
  assert.match((await run(['events'])).stderr, /No events found in default namespace/)
  const time = (secondsAgo: number): string => new Date(Date.now() - secondsAgo * 1000).toISOString().replace(/\.\d+Z/, 'Z')
  const report = (name: string, type: string, { about = 'a', ago = 0, count = 1 } = {}) =>
    events.create({
      metadata: { name },
      involvedObject: { kind: 'Pod', name: about, namespace },
      type,
      reason: `Because${name}`,
      message: `it was ${name}`,
      count,
      firstTimestamp: time(ago + 600),
      lastTimestamp: time(ago),
    })
  await report('late', 'Warning', { ago: 60 })
  await report('early', 'Normal', { ago: 3600, count: 3 })
  await report('other', 'Normal', { about: 'b', ago: 1800 })
  const reasons = (text: string): readonly string[] => [...text.matchAll(/Because(\w+)/g)].map(([, name = '']) => name)
  const all = await ok('events')
  assert.match(all, /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n/)
  assert.match(all, /^6\dm \(x3 over 7\dm\) +Normal +Becauseearly +Pod\/a +it was early$/m)
  assert.deepEqual(reasons(all), ['early', 'other', 'late'], 'events are sorted by time')
  assert.deepEqual(reasons(await ok('events', '--for', 'pod/a')), ['early', 'late'])
  assert.deepEqual(reasons(await ok('events', '--types=Warning', '-A')), ['late'])
  assert.match((await run(['events', '--types=Odd'])).stderr, /not "Odd"/)
  assert.equal(await ok('events', '-o', 'name', '--types=warning'), 'event/late\n')
  // -w with an output format.
  const ending = new AbortController()
  const seen: string[] = []
  const creations: Promise<unknown>[] = []
  const show = (text: string): void => {
    seen.push(text)
    if (text === 'event/newest\n') ending.abort()
    else if (seen.length === 1) creations.push(report('newest', 'Warning'))
  }
  const nothing = (): undefined => undefined
  const io = {
    out: show,
    data: show,
    raw: show,
    err: nothing,
    progress: nothing,
    readStdin: async () => '',
    untilDrained: async () => undefined,
    isTerminal: false,
    style: plainStyle,
  }
  await main(['events', '--watch', '--types=warning', '-o', 'name', '--kubeconfig', join(folder, 'config')], { io, signal: ending.signal })
  await Promise.all(creations)
  assert.deepEqual(seen, ['event/late\n', 'event/newest\n'])
})
