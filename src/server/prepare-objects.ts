// Makes the objects of a fresh server for the build to keep (prepared-objects.ts): those of one that was given no flag that changes them.

import { randomUUID } from 'node:crypto'
import type { IdentityName } from '../api/identity.js'
import { prepare } from '../controllers/bootstrap/prepare.js'
import { ObjectStore } from '../objects/object-store.js'
import { openMemoryStorage } from '../storage/memory.js'
import { parseFlags } from './options/parse-flags.js'
import { readSettings } from './options/read-settings.js'
import { servedCatalog } from './served-catalog.js'

/** A time that no object names for another reason. */
const clock = { now: () => Date.parse('2001-02-03T04:05:06Z') }

export async function prepareObjects(name: IdentityName): Promise<Buffer> {
  const settings = await readSettings(parseFlags([`--identity=${name}`, '--storage-backend=memory']))
  const storage = openMemoryStorage({ clock })
  const store = new ObjectStore({ storage, clock, readCacheBytes: 1 << 20, eventTtlSeconds: settings.eventTtlSeconds })
  const engine = {
    store,
    clock,
    identity: settings.identity,
    gates: settings.gates,
    forbidsPrivileged: !settings.allowPrivileged,
    // Nobody has made a rule yet that would have to be asked.
    admission: { mutate: () => undefined, validate: () => undefined },
    access: { authenticators: [], authorizers: [] },
    reservers: [],
    newUid: randomUUID,
    randomSuffix: () => '',
  }
  try {
    return await prepare(engine, servedCatalog(settings).current, settings.controllers)
  } finally {
    store.close()
    await storage.close()
  }
}
