// The recordings about who may do what, each with the flags of its profile: whatever matched before must match still.

import { test } from 'node:test'
import { checkReplay } from './check.js'
import { findRecordings, identities } from './replay.js'

const root = findRecordings()
const skip = root === undefined ? 'there are no recordings here; see CONFORMANCE_ROOT' : false

for (const identity of identities)
  test(`authorization, identity ${identity}`, { skip }, (t) =>
    checkReplay(t, {
      root: root ?? '',
      identity,
      profiles: ['default', 'abac', 'authz-webhook'],
      filter: '^auth-(access|forbidden|impersonation|rbac|abac|authz)',
    }),
  )
