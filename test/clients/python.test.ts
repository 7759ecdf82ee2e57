// The client of Debian's python3-kubernetes against the server; the tests themselves are in the language of the client.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { repoRoot } from '../kit/paths.js'
import { ServerProcess } from '../kit/server-process.js'
import { obtainPython } from './obtain-python.js'
import { runToEnd } from './obtaining.js'

interface Case {
  readonly name: string
  readonly failure: string | null
  readonly ms: number
}

const programs = [
  { title: 'a class for every kind', file: 'typed_client.py', least: 15 },
  { title: 'kinds learnt from discovery', file: 'dynamic_client.py', least: 7 },
  { title: 'an account for each loop, and the tokens of pods', file: 'accounts_client.py', least: 3 },
]

const client = await obtainPython()

describe('python3-kubernetes', { skip: client.skip, concurrency: 2 }, () => {
  let server: ServerProcess
  before(async () => {
    server = await ServerProcess.start({ flags: ['--identity=kubernetes', '--enable-admission-plugins=NodeRestriction'] })
  })
  after(() => server.stop())

  for (const { title, file, least } of programs) {
    test(title, async (context) => {
      const script = join(repoRoot, 'test', 'clients', 'python', file)
      const { code, stdout, stderr } = await runToEnd(client.path, ['-B', script, join(server.dataDir, 'admin.conf')], {
        patienceMs: 60_000,
      })
      const cases = stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Case)
      for (const { name, failure, ms } of cases) {
        await context.test(`${name}, which took ${ms} ms`, () => {
          if (failure !== null) assert.fail(failure)
        })
      }
      assert.equal(code, 0, stderr)
      assert.ok(cases.length >= least, `only ${cases.length} of ${least} cases were run\n${stderr}`)
    })
  }
})
