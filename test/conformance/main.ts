// `npm run conformance`: replays recordings and prints the score; `--write-baseline` writes the matches to the baseline.
//
//   npm run conformance -- --identity kubernetes --filter '^writing-' --differences default
//   npm run conformance -- --storage etcd --filter '^(objects|reading|writing)-' default compaction

import { parseArgs } from 'node:util'
import { readBaseline, writeBaseline } from './baseline.js'
import { findRecordings, type IdentityName, identities, type Replay, replay } from './replay.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    identity: { type: 'string', multiple: true },
    filter: { type: 'string', default: '' },
    differences: { type: 'boolean', default: false },
    /** `etcd`: storage on etcd instead of the data folder. */
    storage: { type: 'string', default: 'lmdb' },
    'write-baseline': { type: 'boolean', default: false },
    /** Number of runs; the baseline contains exchanges that match every time. */
    times: { type: 'string', default: '2' },
  },
})

const root = findRecordings()
if (root === undefined) {
  console.error('no recordings found: set CONFORMANCE_ROOT to the folder with run.mjs')
  process.exit(1)
}

const score = ({ matched, compared }: Replay): string =>
  `${matched.size} of ${compared.size} (${((100 * matched.size) / compared.size).toFixed(1)} %)`

if (!['lmdb', 'etcd'].includes(values.storage)) throw new Error('--storage is lmdb or etcd')
if (values.storage !== 'lmdb' && values['write-baseline']) throw new Error('the baseline is written with the default storage')
const etcd = values.storage === 'etcd' ? await (await import('./servers-on-etcd.js')).serversOnEtcd() : undefined

const chosen = {
  root,
  ...(etcd === undefined ? {} : { moreFlags: etcd.nextFlags }),
  filter: values.filter,
  ...(positionals.length > 0 ? { profiles: positionals } : {}),
}

function reportAgainstBaseline(identity: IdentityName, { matched, compared }: Replay): void {
  const known = readBaseline()[identity]
  const broken = [...known].filter((key) => compared.has(key) && !matched.has(key))
  const newMatches = [...matched].filter((key) => !known.has(key))
  console.log(`  compared with the baseline: ${broken.length} no longer match, ${newMatches.length} newly match`)
  for (const key of broken) console.log(`  no longer matches: ${key}`)
}

async function compareOnce(): Promise<void> {
  for (const identity of (values.identity ?? identities) as readonly IdentityName[]) {
    const result = await replay({ ...chosen, identity })
    if (values.differences) for (const [key, diffs] of result.differences) console.log(`${key}\n  ${JSON.stringify(diffs)}`)
    console.log(`identity ${identity}: ${score(result)} match`)
    reportAgainstBaseline(identity, result)
  }
}

/** Replaces the replayed part of the baseline and keeps the rest. */
async function updateBaseline(): Promise<void> {
  const before = readBaseline()
  const after = { ...before }
  for (const identity of (values.identity ?? identities) as readonly IdentityName[]) {
    const results: Replay[] = []
    for (let time = 1; time <= Number(values.times); time++) {
      const result = await replay({ ...chosen, identity })
      console.log(`identity ${identity}, run ${time}: ${score(result)} match`)
      results.push(result)
    }
    const compared = new Set(results.flatMap((result) => [...result.compared]))
    const kept = [...before[identity]].filter((key) => !compared.has(key))
    const matched = [...compared].filter((key) => results.every((result) => result.matched.has(key)))
    for (const key of before[identity]) if (compared.has(key) && !matched.includes(key)) console.log(`no longer matches: ${key}`)
    after[identity] = new Set([...kept, ...matched])
  }
  writeBaseline(after)
  console.log(`the baseline has ${after.cluster.size} and ${after.kubernetes.size} exchanges`)
}

try {
  await (values['write-baseline'] ? updateBaseline() : compareOnce())
} finally {
  await etcd?.close()
}
