// Replays recordings by subject as tests: every exchange of the baseline must match. CONFORMANCE=all replays every file of every profile.

import { describe, test } from 'node:test'
import { checkReplay } from './check.js'
import { findRecordings, type IdentityName, type ReplayRequest } from './replay.js'

interface Part {
  readonly title: string
  /** Replayed one after the other, because webhooks of the recordings use fixed ports. */
  readonly scopes: readonly Pick<ReplayRequest, 'profiles' | 'filter'>[]
}

/** Replayed concurrently, because replays mostly wait. */
const parts: readonly Part[] = [
  {
    title: 'objects, reading and writing',
    scopes: [{ profiles: ['default', 'compaction'], filter: '^(objects|reading|writing|extension-kind)-' }],
  },
  { title: 'quotas', scopes: [{ profiles: ['default'], filter: '^admission-resource-quota' }] },
  {
    title: 'admission',
    scopes: [
      { profiles: ['default'], filter: '^admission-(?!resource-quota)' },
      { profiles: ['admission'], filter: '^admission-(hook|image)' },
    ],
  },
  { title: 'authentication and authorization', scopes: [{ profiles: ['default', 'auth', 'abac', 'authz-webhook'], filter: '^auth-' }] },
  {
    title: 'custom resources and APIServices',
    scopes: [{ profiles: ['default'], filter: '^extension-(c(r|rd|el)-(?!conversion)|apiservice)' }],
  },
  { title: 'conversion', scopes: [{ profiles: ['default'], filter: '^extension-crd-conversion' }] },
]

export function replayAll(identity: IdentityName): void {
  const root = findRecordings()
  const skip = root === undefined ? 'there are no recordings here; see CONFORMANCE_ROOT' : false
  const chosen = process.env['CONFORMANCE'] === 'all' ? [{ title: 'all', scopes: [{}] }] : parts
  describe(`recordings, identity ${identity}`, { skip, concurrency: true }, () => {
    for (const { title, scopes } of chosen)
      test(title, async (t) => {
        for (const scope of scopes) await checkReplay(t, { root: root ?? '', identity, ...scope })
      })
  })
}
