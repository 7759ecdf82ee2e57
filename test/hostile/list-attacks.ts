// Lists of 53,000 events: Protobuf, YAML, table, indented JSON, and selectors that match none.

import { fillStore } from '../../bench/fill-store.js'
import { realTime } from '../../packages/api/src/base/clock.js'
import { silentLogger } from '../../packages/api/src/base/logger.js'
import { openStorage } from '../../packages/server/src/assemble/open-storage.js'
import { parseFlags } from '../../packages/server/src/options/flags/parse-flags.js'
import { readSettings } from '../../packages/server/src/options/read-settings.js'
import { expectStatus } from '../kit/fixtures.js'
import { newFolder, ServerProcess } from '../kit/server-process.js'
import { type Attack, outcomeOf } from './attack.js'

const events = '/api/v1/namespaces/default/events'
const nameOf = (index: number): string => `event-${String(index).padStart(7, '0')}`

/** Fills a data folder with copies of one stored event. */
export async function fillWithEvents(count: number): Promise<string> {
  const dataDir = newFolder()
  const server = await ServerProcess.start({ dataDir })
  const { json } = expectStatus(
    await server.client.post(events, {
      metadata: { name: nameOf(0), labels: { app: 'shop' } },
      involvedObject: { namespace: 'default', kind: 'Pod', name: 'a' },
      reason: 'Started',
      message: 'Started container',
    }),
    201,
  )
  await server.stop()
  const { storage } = await openStorage(await readSettings(parseFlags([`--data-dir=${dataDir}`])), { logger: silentLogger, time: realTime })
  try {
    const template = { key: `events/default/${nameOf(0)}`, name: nameOf(0), uid: json.metadata.uid, nameOf, varying: [] }
    await fillStore(storage, { template, count: count - 1 })
  } finally {
    await storage.close()
  }
  return dataDir
}

const list = (name: string, path: string, accept: string): Attack => ({
  finding: 4,
  limit: 'request',
  name,
  run: async ({ server }) => outcomeOf(expectStatus(await server.client.get(path, { accept }), 200)),
})

const json = 'application/json'
const table = 'application/json;as=Table;v=v1;g=meta.cluster.io'

export const listAttacks: readonly Attack[] = [
  list('a list of 53,000 events in Protobuf', events, 'application/vnd.cluster.protobuf'),
  list('a list of 53,000 events with a field selector that matches none', `${events}?fieldSelector=reason%3DNone`, json),
  list('a list of 53,000 events with a label selector that matches none', `${events}?labelSelector=app%3Dnone`, json),
  list('a list of 53,000 events in YAML', events, 'application/yaml'),
  list('a list of 53,000 events as a table', events, table),
  list('a list of 53,000 events, indented', `${events}?pretty=true`, json),
]
