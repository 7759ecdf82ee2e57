// Length of the request path: a create executes code of at most a hundred files, counted by V8 coverage.

import assert from 'node:assert/strict'
import { Session } from 'node:inspector/promises'
import { test } from 'node:test'
import { startServer } from '../src/assemble/index.js'

const maxFiles = 100

test(`a POST executes at most ${maxFiles} files`, async (t) => {
  const server = await startServer({})
  t.after(() => server.close())
  const session = new Session()
  session.connect()
  t.after(() => session.disconnect())
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const maps = server.client.core.v1.configMaps('default')
  const create = (name: string): Promise<unknown> => maps.create({ metadata: { name }, data: { key: 'value' } })
  // The first requests load modules and fill caches.
  for (let i = 0; i < 3; i++) await create(`warm-${i}`)
  const filesOf = async (name: string): Promise<readonly string[]> => {
    await session.post('Profiler.takePreciseCoverage')
    await create(name)
    const { result } = await session.post('Profiler.takePreciseCoverage')
    return (
      result
        .filter(({ url, functions }) => url.includes('/dist/') && functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
        .map(({ url }) => url.replace(/^.*\/packages\//, ''))
        // The command runs without the client, whose options are checked, and without the test kit.
        .filter((file) => !file.startsWith('client/') && !file.includes('/assemble/testkit/') && !file.endsWith('/unknown-options.js'))
    )
  }
  // Controllers may run during one of the creates.
  let files = await filesOf('counted-0')
  for (let i = 1; i < 5; i++) {
    const others = await filesOf(`counted-${i}`)
    if (others.length < files.length) files = others
  }
  assert.ok(files.length > 50, 'the server runs from its modules')
  assert.ok(files.length <= maxFiles, `${files.length} files:\n${files.toSorted().join('\n')}`)
})
