// Lists of very many objects in every form, each of which was made in one piece once.

import { fillStore } from '../../bench/fill-store.js'
import { silentLogger } from '../../src/base/logger.js'
import { openStorage } from '../../src/server/open-storage.js'
import { parseFlags } from '../../src/server/options/parse-flags.js'
import { readSettings } from '../../src/server/options/read-settings.js'
import { expectStatus } from '../kit/fixtures.js'
import { newFolder, ServerProcess } from '../kit/server-process.js'
import { type Attack, outcomeOf } from './attack.js'

const events = '/api/v1/namespaces/default/events'
const nameOf = (index: number): string => `event-${String(index).padStart(7, '0')}`

/** A data folder with so many events, made from one that a server has stored. */
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
  const storage = await openStorage(await readSettings(parseFlags([`--data-dir=${dataDir}`])), silentLogger, undefined)
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
  name,
  run: async ({ server }) => outcomeOf(expectStatus(await server.client.get(path, { accept }), 200)),
})

const json = 'application/json'
const table = 'application/json;as=Table;v=v1;g=meta.cluster.io'

export const listAttacks: readonly Attack[] = [
  list('a list of 53,000 events in Protobuf', events, 'application/vnd.cluster.protobuf'),
  list('a selector that matches none of them', `${events}?fieldSelector=reason%3DNone`, json),
  list('a selector of labels that matches none of them', `${events}?labelSelector=app%3Dnone`, json),
  list('all of them as YAML', events, 'application/yaml'),
  list('all of them as a table', events, table),
  list('all of them, indented', `${events}?pretty=true`, json),
]
