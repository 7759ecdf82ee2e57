// `npm run workloads`: replays recorded scenarios of the workload controllers; arguments go to the runner.
//
//   npm run workloads -- --filter '^job-' --verbose

import { findScenarios, replayWorkloads } from './replay.js'

const root = findScenarios()
if (root === undefined) console.log('skipped: no scenarios found; set WORKLOADS_ROOT to the folder with run.mjs')
else {
  const { code } = await replayWorkloads({
    root,
    arguments: process.argv.slice(2),
    print: (text) => void process.stdout.write(text),
  })
  process.exitCode = code ?? 1
}
