// Replays some recordings against a server on etcd: they must match as with the embedded store. CONFORMANCE=all replays the whole default
// profile.

import { after, before, describe, test } from 'node:test'
import { whyNoEtcd } from '../../packages/server/test/etcd/etcd-cluster.js'
import { checkReplay } from './check.js'
import { findRecordings, identities } from './replay.js'
import { type ServersOnEtcd, serversOnEtcd } from './servers-on-etcd.js'

const root = findRecordings()
const skip = root === undefined ? 'there are no recordings here; see CONFORMANCE_ROOT' : (whyNoEtcd ?? false)
/** Recordings that depend on the storage: versions, pages, watches, conflicts, deletes. */
const storageRecordings = '^(objects-(deletion|update)|reading-(chunking|list|versions-list|watch)|writing-(apply-conflicts|updates))[.]'
const filter = process.env['CONFORMANCE'] === 'all' ? '' : storageRecordings

describe('recordings on etcd', { skip }, () => {
  let servers: ServersOnEtcd
  before(async () => {
    servers = await serversOnEtcd()
  })
  after(() => servers.close())
  for (const identity of identities) {
    test(`identity ${identity}`, (t) =>
      checkReplay(t, { root: root ?? '', identity, profiles: ['default'], filter, moreFlags: servers.nextFlags }))
  }
})
