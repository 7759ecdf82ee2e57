// Profiling endpoints, the request log and OpenTelemetry spans.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ApiClient } from '../../../test/kit/api-client.js'
import { startEmbedded } from '../../../test/kit/embedded.js'
import { expectFailure, expectStatus, until } from '../../../test/kit/fixtures.js'
import { newFolder, runCommand, ServerProcess, skipWithWorkers } from '../../../test/kit/server-process.js'

describe('profiles', () => {
  test('CPU and heap profiles in the format of V8, one at a time, for a limited time', {
    skip: skipWithWorkers('one per worker'),
  }, async () => {
    const { client, server, close } = await startEmbedded('memory')
    try {
      expectStatus(await client.get('/debug/pprof/'), 200)
      const unauthenticated = new ApiClient({ url: server.url, ca: server.caPem, token: '' })
      expectFailure(await unauthenticated.get('/debug/pprof/profile?seconds=1'), 403, 'Forbidden')
      unauthenticated.close()
      const [first, second] = await Promise.all([
        client.get('/debug/pprof/profile?seconds=0.5'),
        client.get('/debug/pprof/profile?seconds=0.5'),
      ])
      assert.deepEqual([first?.status, second?.status].sort(), [200, 429])
      const { text, headers } = first?.status === 200 ? first : (second as typeof first)
      assert.match(String(headers['content-disposition']), /cpu\.cpuprofile/)
      const profile = JSON.parse(text) as { readonly nodes: readonly unknown[]; readonly samples: readonly unknown[] }
      assert.ok(profile.nodes.length > 0 && profile.samples.length > 0)
      const heap = JSON.parse(expectStatus(await client.get('/debug/pprof/heap?seconds=0.1'), 200).text) as { readonly head?: unknown }
      assert.ok(heap.head)
      expectFailure(await client.get('/debug/pprof/profile?seconds=3600'), 400, 'BadRequest')
      assert.equal((await client.get('/debug/pprof/nothing')).status, 404)
    } finally {
      await close()
    }
  })

  test('can be switched off', async () => {
    const { client, close } = await startEmbedded('memory', ['--profiling=false'])
    assert.deepEqual([(await client.get('/debug/pprof/')).status, (await client.get('/debug/pprof/heap')).status], [404, 404])
    await close()
  })
})

for (const { flags, line } of [
  {
    flags: ['--v=6', '--logging-format=text'],
    line: /^\S+Z info {2}request (?:worker=\d )?verb=list path=\/api\/v1\/namespaces code=200 durationMs=\d+ user=\S+ remoteAddress=\S+ /,
  },
  { flags: ['--v=6'], line: /^\{"level":"info","time":"[^"]+",(?:"worker":\d,)?"verb":"list","path":"\/api\/v1\/namespaces","code":200,/ },
  { flags: ['--v=4'], line: undefined },
]) {
  test(`requests in the log with ${flags.join(' ')}`, async () => {
    const server = await ServerProcess.start({ flags })
    await server.client.get('/api/v1/namespaces?limit=5')
    await server.stop()
    const found = server.stderr.split('\n').filter((text) => text.includes('/api/v1/namespaces'))
    // Slow requests are logged.
    if (line === undefined)
      assert.deepEqual(
        found.filter((text) => !/"durationMs":\d{4}/.test(text)),
        [],
      )
    else assert.match(found[0] ?? '', line)
    assert.doesNotMatch(server.stderr, /limit=5/)
  })
}

test('spans of requests reach a collector, and are counted', async () => {
  const spans: { readonly traceId: string; readonly parentSpanId?: string; readonly name: string }[] = []
  const collector = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      for (const { scopeSpans } of JSON.parse(body).resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans)
      response.end('{}')
    })
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const folder = newFolder()
  const file = join(folder, 'tracing.yaml')
  const { port } = collector.address() as AddressInfo
  writeFileSync(file, `kind: TracingConfiguration\napiVersion: apiserver.config.cluster.io/v1alpha1\nendpoint: 127.0.0.1:${port}\n`)
  const server = await ServerProcess.start({ flags: ['--feature-gates=APIServerTracing=true', `--tracing-config-file=${file}`] })
  try {
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    await server.client.get('/api/v1/namespaces', { traceparent: `00-${traceId}-b7ad6b7169203331-01` })
    // Not sampled: without a sampling rate, only requests with a sampled traceparent are.
    await server.client.get('/api/v1/namespaces')
    const { text } = await until(
      () => server.client.get('/metrics'),
      (metrics) => /apiserver_trace_spans_total\{result="sent"\} 1$/m.test(metrics.text),
    )
    assert.match(text, /apiserver_trace_spans_total\{result="dropped"\} 0/)
    await server.stop()
    assert.deepEqual(
      spans.map((span) => [span.traceId, span.parentSpanId, span.name]),
      [[traceId, 'b7ad6b7169203331', 'KubernetesAPI']],
    )
  } finally {
    await server.kill()
    collector.close()
  }
})

test('tracing needs its feature gate', async () => {
  const file = join(newFolder(), 'tracing.yaml')
  writeFileSync(file, 'kind: TracingConfiguration\napiVersion: apiserver.config.cluster.io/v1alpha1\n')
  const { code, stderr } = await runCommand([`--tracing-config-file=${file}`])
  assert.equal(code, 2)
  assert.match(stderr, /--tracing-config-file: needs --feature-gates=APIServerTracing=true/)
})
