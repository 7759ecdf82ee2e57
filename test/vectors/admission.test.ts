// Replays the tables of Pod Security and ResourceQuota, if VECTORS_ROOT exists: every case must match kube-apiserver.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { repoRoot } from '../kit/paths.js'
import { replayPodSecurity } from './pod-security-table.js'
import { replayQuota } from './quota-table.js'

const root = process.env['VECTORS_ROOT'] ?? join(repoRoot, '..', 'shared', 'vectors')
const skip = existsSync(root) ? false : 'there are no tables here; see VECTORS_ROOT'

const replays = { 'pod-security.json': replayPodSecurity, 'quota-usage.json': replayQuota }

for (const [file, replay] of Object.entries(replays)) {
  test(file, { skip }, async () => {
    const { compared, differences } = await replay(readFileSync(join(root, file), 'utf8'))
    assert.ok(compared.length > 0)
    assert.deepEqual([...differences].slice(0, 5), [], `${differences.size} of ${compared.length} differ`)
  })
}
