// kubectl and clusterctl with simulated nodes: commands that wait for controllers end by themselves, with the right results.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { until } from '../kit/fixtures.js'
import { repoRoot } from '../kit/paths.js'
import { ServerProcess } from '../kit/server-process.js'
import { Kubectl } from './kubectl.js'
import { newNamespace } from './namespaces.js'

const kubectlPath = process.env['CLIENTS_KUBECTL'] ?? '/usr/bin/kubectl'
const clients = [
  {
    title: 'kubectl',
    command: kubectlPath,
    skip: existsSync(kubectlPath) ? false : `${kubectlPath} does not exist; CLIENTS_KUBECTL names another one`,
  },
  { title: 'clusterctl', command: join(repoRoot, 'bin', 'clusterctl'), skip: false },
] as const

const template = (app: string, spec: object = {}, behaviour: object = {}) => ({
  metadata: { labels: { app }, annotations: { 'simulation.kubernetes.io/behaviour': JSON.stringify(behaviour) } },
  spec: { containers: [{ name: 'main', image: `${app}:1`, resources: { requests: { cpu: '100m' } } }], ...spec },
})
const selector = (app: string) => ({ matchLabels: { app } })
const deployment = (name: string, replicas: number, behaviour: object = {}, spec: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { replicas, selector: selector(name), template: template(name, spec, behaviour) },
})
const job = (name: string, behaviour: object) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: { backoffLimit: 0, template: template(name, { restartPolicy: 'Never' }, behaviour) },
})
const budget = (name: string, minAvailable: number) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec: { minAvailable, selector: selector(name) },
})

const listOf = (...items: readonly object[]) => ({ apiVersion: 'v1', kind: 'List', items })

for (const { title, command, skip } of clients)
  describe(`${title} and workloads on simulated nodes`, { skip, concurrency: 1 }, () => {
    let server: ServerProcess
    let home: string
    let client: Kubectl
    before(async () => {
      home = mkdtempSync(join(tmpdir(), 'kubectl-workloads-'))
      server = await ServerProcess.start({ flags: ['--identity=kubernetes', '--simulate-nodes=3'] })
      const access = { command, clientConfiguration: join(server.dataDir, 'admin.conf'), home, minor: 0 }
      client = new Kubectl({ ...access, namespace: await newNamespace(server.client) })
      await client.ok('wait --for=condition=Ready node/node-1 node/node-2 node/node-3 --timeout=60s')
    })
    after(async () => {
      await server.stop()
      rmSync(home, { recursive: true, force: true })
    })

    const nodesOf = async (app: string): Promise<readonly string[]> =>
      (await client.ok(`get pods -l app=${app} -o`, 'jsonpath={.items[*].spec.nodeName}')).split(' ').filter(Boolean)

    test('rollout status follows updates, and fails for a rollout that does not progress', async () => {
      await client.send('create -f -', deployment('web', 3, { readyAfter: '1s' }))
      assert.match(await client.ok('rollout status deployment/web --timeout=60s'), /deployment "web" successfully rolled out\n$/)
      await client.ok('set image deployment/web main=web:2')
      assert.match(
        await client.ok('rollout status deployment/web --timeout=60s'),
        /^Waiting for deployment[\s\S]*successfully rolled out\n$/,
      )
      assert.equal(await client.ok('get pods -l app=web -o', 'jsonpath={.items[*].spec.containers[*].image}'), 'web:2 web:2 web:2')
      const stuck = deployment('stuck', 1, { readyAfter: 'never' })
      await client.send('create -f -', { ...stuck, spec: { ...stuck.spec, progressDeadlineSeconds: 2 } })
      await client.fails('rollout status deployment/stuck --timeout=60s', /error: deployment "stuck" exceeded its progress deadline/)
      await client.ok('delete deployment stuck')
    })

    test('wait for conditions, values and deletions', async () => {
      assert.match(
        await client.ok('wait --for=condition=Available deployment/web --timeout=60s'),
        /^deployment\.apps\/web condition met\n$/,
      )
      await client.send('create -f -', listOf(job('short', { exitAfter: '1s' }), job('broken', { exitAfter: '0s', exitCode: 3 })))
      assert.match(await client.ok('wait --for=condition=Complete job/short --timeout=60s'), /^job\.batch\/short condition met\n$/)
      assert.match(await client.ok('wait --for=condition=Failed job/broken --timeout=60s'), /^job\.batch\/broken condition met\n$/)
      const [pod = ''] = (await client.ok('get pods -l app=web -o name')).split('\n')
      assert.match(await client.ok(`wait --for=condition=Ready ${pod} --timeout=60s`), /condition met\n$/)
      await client.ok(`delete ${pod} --wait=false`)
      await client.ok(`wait --for=delete ${pod} --timeout=90s`)
      await client.fails('wait --for=condition=Complete job/broken --timeout=1s', /timed out waiting for the condition on jobs\/broken/)
    })

    test('logs -f ends when the container ends', async () => {
      await client.send('create -f -', job('talk', { exitAfter: '4s', log: ['one', 'two'] }))
      await until(
        () => client.run('logs job/talk'),
        ({ code }) => code === 0,
        60_000,
      )
      const following = client.follow('logs -f job/talk')
      try {
        assert.equal(await following.ended, 0, following.stderr)
      } finally {
        following.close()
      }
      assert.match(following.stdout, /one\ntwo\n/)
      await client.ok('wait --for=condition=Complete job/talk --timeout=60s')
    })

    test('an install that waits for readiness ends', async () => {
      const statefulSet = {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name: 'db' },
        spec: { serviceName: 'db', replicas: 2, selector: selector('db'), template: template('db', {}, { readyAfter: '1s' }) },
      }
      const service = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'db' },
        spec: { selector: { app: 'db' }, ports: [{ port: 5432 }] },
      }
      await client.send(
        'apply -f -',
        listOf(service, statefulSet, deployment('shop', 2, { startAfter: '1s' }), job('migrate', { exitAfter: '2s' })),
      )
      await client.ok('rollout status statefulset/db --timeout=90s')
      await client.ok('rollout status deployment/shop --timeout=90s')
      await client.ok('wait --for=condition=Complete job/migrate --timeout=90s')
      // The rules of `helm install --wait`: ready replicas, and an address of each Service.
      const values = async (object: string, path: string): Promise<string> => client.ok(`get ${object} -o`, `jsonpath=${path}`)
      assert.equal(await values('statefulset/db', '{.status.readyReplicas} {.status.updatedReplicas}'), '2 2')
      assert.equal(await values('deployment/shop', '{.status.readyReplicas} {.status.updatedReplicas}'), '2 2')
      assert.match(await values('service/db', '{.spec.clusterIP}'), /^\d+\.\d+\.\d+\.\d+$/)
      await until(
        () => values('endpoints/db', '{.subsets[*].addresses[*].targetRef.name}'),
        (names) => names.split(' ').sort().join(' ') === 'db-0 db-1',
        60_000,
      )
    })

    test('drain evicts pods, retries evictions that a PodDisruptionBudget forbids, and keeps DaemonSets', async () => {
      const daemonSet = {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 'agent' },
        spec: { selector: selector('agent'), template: template('agent') },
      }
      const spread = {
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: selector('api') },
        ],
      }
      await client.send('create -f -', listOf(daemonSet, deployment('api', 3, {}, spread), budget('api', 3)))
      await client.ok('rollout status daemonset/agent --timeout=90s')
      await client.ok('rollout status deployment/api --timeout=90s')
      const [node = ''] = await nodesOf('api')
      const refused = await client.run(`drain ${node}`)
      assert.notEqual(refused.code, 0)
      assert.match(refused.stdout, new RegExp(`^node/${node} cordoned\n$`))
      assert.match(
        refused.stderr,
        new RegExp(
          `^error: unable to drain node "${node}" due to error: ?cannot delete DaemonSet-managed Pods \\(use --ignore-daemonsets to ignore\\): \\S+/agent-\\S+, continuing command\\.\\.\\.\nThere are pending nodes to be drained:\n ${node}\ncannot delete DaemonSet-managed Pods`,
        ),
      )
      const draining = client.follow(`drain ${node} --ignore-daemonsets --timeout=120s`)
      try {
        await until(
          async () => draining.stderr,
          (text) => /error when evicting pods\/"api-\S+" -n \S+ \(will retry after 5s\): Cannot evict pod as it would violate/.test(text),
          60_000,
        )
        await client.ok('patch pdb api --type=merge -p', '{"spec":{"minAvailable":1}}')
        assert.equal(await draining.ended, 0, draining.stderr)
      } finally {
        draining.close()
      }
      assert.match(draining.stderr, /^Warning: ignoring DaemonSet-managed Pods: \S+\/agent-/m)
      assert.match(
        draining.stdout,
        new RegExp(`^node/${node} already cordoned\n[\\s\\S]*pod/api-\\S+ evicted\n[\\s\\S]*node/${node} drained\n$`),
      )
      assert.ok(!(await nodesOf('api')).includes(node))
      assert.ok((await nodesOf('agent')).includes(node))
      assert.match(await client.ok('rollout status deployment/api --timeout=90s'), /successfully rolled out\n$/)
      assert.equal((await nodesOf('api')).length, 3)
      assert.equal(await client.ok(`uncordon ${node}`), `node/${node} uncordoned\n`)
    })

    if (title === 'kubectl')
      test('autoscale scales with the usage of the pods', async () => {
        await client.send('create -f -', deployment('busy', 1, { usage: { cpu: '90m', memory: '32Mi' } }))
        await client.ok('rollout status deployment/busy --timeout=60s')
        assert.match(await client.ok('autoscale deployment busy --min=2 --max=3 --cpu-percent=50'), /autoscaled\n$/)
        await client.ok('wait --for=jsonpath={.status.desiredReplicas}=3 hpa/busy --timeout=80s')
        await client.ok('wait --for=jsonpath={.status.readyReplicas}=3 deployment/busy --timeout=60s')
      })
  })
