// Metrics of a busy server: names, types and labels of kube-apiserver, valid for Prometheus, with bounded cardinality.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { obtain, runToEnd, unpackCommand } from '../../../test/clients/obtain.js'
import type { ApiClient } from '../../../test/kit/api-client.js'
import { type Embedded, startEmbedded } from '../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectStatus, newNamespace, until } from '../../../test/kit/fixtures.js'
import { type MetricsText, readMetrics, type Sample } from '../../../test/kit/metrics-text.js'
import { repoRoot } from '../../../test/kit/paths.js'
import { skipWithWorkers } from '../../../test/kit/server-process.js'

const requestLabels = ['component', 'group', 'resource', 'scope', 'subresource', 'verb', 'version']

/** Type and labels in kube-apiserver; `identity` stands for the value of --identity, such as `kubernetes`. */
const expected: { readonly [name: string]: readonly [string, readonly string[]] } = {
  apiserver_request_total: ['counter', ['code', 'component', 'dry_run', ...requestLabels.slice(1)]],
  apiserver_request_duration_seconds: ['histogram', ['component', 'dry_run', ...requestLabels.slice(1)]],
  apiserver_request_sli_duration_seconds: ['histogram', requestLabels],
  apiserver_response_sizes: ['histogram', requestLabels],
  apiserver_current_inflight_requests: ['gauge', ['request_kind']],
  apiserver_longrunning_requests: ['gauge', requestLabels],
  apiserver_request_terminations_total: ['counter', ['code', ...requestLabels]],
  apiserver_request_aborts_total: ['counter', requestLabels.slice(1)],
  apiserver_requested_deprecated_apis: ['gauge', ['group', 'removed_release', 'resource', 'subresource', 'version']],
  apiserver_init_events_total: ['counter', ['resource']],
  apiserver_watch_events_total: ['counter', ['group', 'kind', 'version']],
  apiserver_watch_events_sizes: ['histogram', ['group', 'kind', 'version']],
  apiserver_storage_objects: ['gauge', ['resource']],
  apiserver_storage_list_total: ['counter', ['resource']],
  apiserver_storage_list_fetched_objects_total: ['counter', ['resource']],
  apiserver_storage_list_evaluated_objects_total: ['counter', ['resource']],
  apiserver_storage_list_returned_objects_total: ['counter', ['resource']],
  apiserver_storage_db_total_size_in_bytes: ['gauge', ['endpoint']],
  etcd_request_duration_seconds: ['histogram', ['operation', 'type']],
  apiserver_tls_handshake_errors_total: ['counter', []],
  workqueue_adds_total: ['counter', ['name']],
  workqueue_depth: ['gauge', ['name']],
  workqueue_longest_running_processor_seconds: ['gauge', ['name']],
  workqueue_queue_duration_seconds: ['histogram', ['name']],
  workqueue_retries_total: ['counter', ['name']],
  workqueue_unfinished_work_seconds: ['gauge', ['name']],
  workqueue_work_duration_seconds: ['histogram', ['name']],
  leader_election_master_status: ['gauge', ['name']],
  cluster_build_info: [
    'gauge',
    ['build_date', 'compiler', 'git_commit', 'git_tree_state', 'git_version', 'go_version', 'major', 'minor', 'platform'],
  ],
  cluster_feature_enabled: ['gauge', ['name', 'stage']],
  process_cpu_seconds_total: ['counter', []],
  process_max_fds: ['gauge', []],
  process_open_fds: ['gauge', []],
  process_resident_memory_bytes: ['gauge', []],
  process_start_time_seconds: ['gauge', []],
  process_virtual_memory_bytes: ['gauge', []],
  process_virtual_memory_max_bytes: ['gauge', []],
  nodejs_eventloop_lag_seconds: ['gauge', []],
  nodejs_eventloop_delay_seconds: ['histogram', []],
}

const bounds: { readonly [name: string]: string } = {
  apiserver_request_duration_seconds: '0.005 0.025 0.05 0.1 0.2 0.4 0.6 0.8 1 1.25 1.5 2 3 4 5 6 8 10 15 20 30 45 60 +Inf',
  apiserver_request_sli_duration_seconds: '0.05 0.1 0.2 0.4 0.6 0.8 1 1.25 1.5 2 3 4 5 6 8 10 15 20 30 45 60 +Inf',
  apiserver_response_sizes: '1000 10000 100000 1e+06 1e+07 1e+08 1e+09 +Inf',
  apiserver_watch_events_sizes: '1024 2048 4096 8192 16384 32768 65536 131072 +Inf',
  etcd_request_duration_seconds: '0.005 0.025 0.05 0.1 0.2 0.4 0.6 0.8 1 1.25 1.5 2 3 4 5 6 8 10 15 20 30 45 60 +Inf',
  workqueue_queue_duration_seconds: '1e-08 1e-07 1e-06 9.999999999999999e-06 9.999999999999999e-05 0.001 0.01 0.1 1 10 +Inf',
}

const textOf = async (client: ApiClient): Promise<string> => expectStatus(await client.get('/metrics'), 200).text
const metricsOf = async (client: ApiClient): Promise<MetricsText> => readMetrics(await textOf(client))

const labelsWithoutLe = ({ le: _le, ...labels }: Sample['labels']): string => JSON.stringify(labels)

/** Validates metrics: the installed promtool, or the one of Debian's package, unpacked. */
const promtool = await obtain('promtool', async () =>
  (await runToEnd('promtool', ['--version'])).code === 0 ? 'promtool' : unpackCommand('prometheus', 'promtool'),
)

/** Sends writes, a dry run, reads, lists and watches, and waits until the watches have ended. */
async function sendRequests(client: ApiClient): Promise<{ readonly listedBytes: number }> {
  const namespace = await newNamespace(client, 'busy')
  const watch = await client.watch(`${configMaps(namespace)}?watch=1&timeoutSeconds=60`)
  const shortWatch = await client.watch('/api/v1/namespaces?watch=1&timeoutSeconds=1')
  for (let i = 0; i < 5; i++) expectStatus(await client.post(configMaps(namespace), configMapOf(`o-${i}`)), 201)
  expectStatus(await client.post(`${configMaps(namespace)}?dryRun=All`, configMapOf('dry')), 201)
  await client.get(configMaps(namespace, 'o-1'))
  const lists = [await client.get(configMaps(namespace)), await client.get(`${configMaps(namespace)}?labelSelector=a%3Db`)]
  await client.get('/readyz')
  await client.delete(configMaps(namespace))
  await watch.atLeast(10)
  watch.close()
  await Promise.all([watch.ended, shortWatch.ended])
  await until(
    async () => (await metricsOf(client)).sum('apiserver_longrunning_requests', { resource: 'configmaps' }),
    (count) => count === 0,
  )
  return { listedBytes: lists.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0) }
}

describe('metrics', { concurrency: false }, () => {
  let embedded: Embedded
  let client: ApiClient
  let listedBytes: number
  before(async () => {
    embedded = await startEmbedded('lmdb')
    client = embedded.client
    ;({ listedBytes } = await sendRequests(client))
  })
  after(() => embedded.close())

  /** Names of kube-apiserver that a linter rejects. */
  const unusualNames = ['authenticated_user_requests', 'authentication_attempts', 'authentication_token_cache_active_fetch_count']

  test('promtool finds nothing wrong', { skip: promtool.skip }, async () => {
    const text = await textOf(client)
    const { stdout, stderr } = await runToEnd(promtool.path, ['check', 'metrics'], { stdin: text })
    const found = `${stdout}${stderr}`.split('\n').filter((line) => line !== '' && !unusualNames.includes(line.split(' ')[0] ?? ''))
    assert.deepEqual(found, [])
  })

  test('names, types and labels are those of kube-apiserver, labels in order', {
    skip: skipWithWorkers('there is a label process'),
  }, async () => {
    const { types, samples } = await metricsOf(client)
    for (const [name, [type, labels]] of Object.entries(expected)) {
      assert.equal(types.get(name), type, name)
      const ownSamples = samples.filter((sample) => (type === 'histogram' ? sample.name === `${name}_count` : sample.name === name))
      for (const { labelNames } of ownSamples) assert.deepEqual(labelNames, labels, name)
    }
  })

  test('histogram buckets are those of kube-apiserver', async () => {
    const { samples } = await metricsOf(client)
    for (const [name, wanted] of Object.entries(bounds)) {
      const [first, ...rest] = samples.filter((sample) => sample.name === `${name}_bucket`)
      assert.ok(first, name)
      const series = [first, ...rest.filter(({ labels }) => labelsWithoutLe(labels) === labelsWithoutLe(first.labels))]
      assert.equal(series.map(({ labels }) => labels['le']).join(' '), wanted, name)
      const values = series.map(({ value }) => value)
      assert.deepEqual(
        values,
        values.toSorted((a, b) => a - b),
        'buckets add up',
      )
    }
  })

  test('requests, storage and controllers are counted', async () => {
    const { sum } = await metricsOf(client)
    const posts = { verb: 'POST', resource: 'configmaps', component: 'apiserver', scope: 'resource', version: 'v1', code: '201' }
    assert.equal(sum('apiserver_request_total', { ...posts, dry_run: '' }), 5)
    assert.equal(sum('apiserver_request_total', { ...posts, dry_run: 'All' }), 1)
    assert.equal(sum('apiserver_request_duration_seconds_count', { verb: 'POST', resource: 'configmaps' }), 6)
    assert.equal(sum('apiserver_request_total', { verb: 'LIST', resource: 'configmaps', scope: 'namespace' }), 2)
    assert.equal(sum('apiserver_request_total', { verb: 'DELETECOLLECTION', resource: 'configmaps' }), 1)
    assert.equal(sum('apiserver_request_total', { verb: 'GET', subresource: '/readyz', component: '' }), 1)
    assert.equal(sum('apiserver_response_sizes_count', { verb: 'LIST', resource: 'configmaps' }), 2)
    assert.equal(sum('apiserver_response_sizes_sum', { verb: 'LIST', resource: 'configmaps' }), listedBytes)
    assert.equal(sum('apiserver_watch_events_total', { kind: 'ConfigMap' }), 10)
    assert.equal(sum('apiserver_watch_events_sizes_count', { kind: 'ConfigMap' }), 10)
    assert.equal(
      sum('apiserver_init_events_total', { resource: 'namespaces' }),
      sum('apiserver_storage_objects', { resource: 'namespaces' }),
    )
    assert.equal(sum('apiserver_longrunning_requests', { resource: 'configmaps' }), 0)
    assert.equal(sum('etcd_request_duration_seconds_count', { operation: 'create', type: 'configmaps' }) >= 5, true)
    assert.equal(sum('etcd_request_duration_seconds_count', { operation: 'delete', type: 'configmaps' }), 5)
    assert.ok(sum('apiserver_storage_list_returned_objects_total', { resource: 'configmaps' }) >= 5)
    assert.ok(sum('apiserver_storage_db_total_size_in_bytes') > 0)
    assert.ok(sum('apiserver_storage_objects', { resource: 'namespaces' }) >= 4)
    assert.ok(sum('workqueue_adds_total') > 0)
    assert.equal(sum('leader_election_master_status'), 1)
    assert.equal(sum('cluster_build_info', { major: '1', minor: '26' }), 1)
    assert.equal(sum('cluster_feature_enabled', { name: 'APIServerIdentity', stage: 'BETA' }), 1)
  })

  test('an open watch is in the gauge of long-running requests', async () => {
    const watch = await client.watch('/api/v1/secrets?watch=1')
    const labels = { resource: 'secrets', verb: 'WATCH', scope: 'cluster' }
    assert.equal((await metricsOf(client)).sum('apiserver_longrunning_requests', labels), 1)
    watch.close()
    for (let i = 0; i < 1000 && (await metricsOf(client)).sum('apiserver_longrunning_requests', labels) > 0; i++) await sleep(20)
    assert.equal((await metricsOf(client)).sum('apiserver_longrunning_requests', labels), 0)
  })

  test('failed TLS handshakes are counted', async () => {
    const socket = connect(embedded.server.port, '127.0.0.1', () => socket.write('this is not TLS\r\n\r\n'))
    await new Promise((resolve) => socket.on('close', resolve).resume())
    assert.equal((await metricsOf(client)).sum('apiserver_tls_handshake_errors_total'), 1)
  })

  test('object names, namespaces and unknown strings create no new series', async () => {
    const requestWith = async (text: string): Promise<void> => {
      await client.get(configMaps(text, text))
      await client.get(configMaps(text))
      await client.get(`${configMaps(text)}?dryRun=${text}`)
      await client.get(`/${text}`)
      await client.get(`/apis/${text}/v1/${text}`)
      await client.get(`/api/v1/namespaces/${text}/pods/x/${text}`)
      await client.send({ method: 'PROPFIND', path: '/api/v1/namespaces' }).catch(() => undefined)
    }
    await requestWith('w')
    const before = (await metricsOf(client)).samples.length
    for (let i = 0; i < 20; i++) await requestWith(`word-${i}`)
    assert.equal((await metricsOf(client)).samples.length, before)
  })

  test('the dashboard and alerts of the docs use existing metrics', async () => {
    const { types } = await metricsOf(client)
    const known = new Set(
      [...types].flatMap(([name, type]) => (type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name])),
    )
    for (const file of ['dashboard.json', 'alerts.yaml']) {
      const text = readFileSync(join(repoRoot, 'docs', 'monitoring', file), 'utf8')
      const named = new Set(text.match(/\b(?:apiserver|etcd|workqueue|leader|process|nodejs)_[a-z_]+/g))
      assert.ok(named.size > 8, file)
      assert.deepEqual(
        [...named].filter((name) => !known.has(name)),
        [],
        file,
      )
    }
  })

  test('promtool accepts the alerts', { skip: promtool.skip }, async () => {
    const { code, stderr } = await runToEnd(promtool.path, ['check', 'rules', join(repoRoot, 'docs', 'monitoring', 'alerts.yaml')])
    assert.equal(code, 0, stderr)
  })

  test('gzip gives the same text', async () => {
    const plain = readMetrics(await textOf(client))
    const { headers, bytes } = await client.get('/metrics', { 'accept-encoding': 'gzip' })
    assert.equal(headers['content-encoding'], 'gzip')
    const unzipped = readMetrics(gunzipSync(bytes).toString())
    assert.deepEqual([...unzipped.types], [...plain.types])
    assert.equal(unzipped.samples.length, plain.samples.length)
  })
})

describe('metrics flags', () => {
  test('--disabled-metrics hides metrics, --allow-metric-labels restricts labels', async () => {
    const flags = ['--disabled-metrics=apiserver_response_sizes', '--allow-metric-labels=apiserver_request_total,verb=GET,LIST']
    const { client, close } = await startEmbedded('memory', flags)
    try {
      for (const path of ['/api/v1/namespaces', '/api/v1/namespaces/default']) await client.get(path)
      await client.post(configMaps('default'), configMapOf('a'))
      await client.delete(configMaps('default', 'a'))
      const { types, samples, sum } = await metricsOf(client)
      assert.equal(types.has('apiserver_response_sizes'), false)
      const verbs = new Set(samples.filter(({ name }) => name === 'apiserver_request_total').map(({ labels }) => labels['verb']))
      assert.deepEqual([...verbs].sort(), ['GET', 'LIST', 'unexpected'])
      assert.equal(sum('apiserver_request_total', { verb: 'unexpected', resource: 'configmaps' }), 2)
    } finally {
      await close()
    }
  })

  test('--etcd-count-metric-poll-period limits how often objects are counted', async () => {
    const { client, close } = await startEmbedded('memory', ['--etcd-count-metric-poll-period=1h'])
    try {
      const count = async (): Promise<number> => (await metricsOf(client)).sum('apiserver_storage_objects', { resource: 'configmaps' })
      const before = await count()
      await client.post(configMaps('default'), configMapOf('a'))
      assert.equal(await count(), before)
    } finally {
      await close()
    }
  })
})
