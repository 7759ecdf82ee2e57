// Imported last into each file of tests: when all of them have ended, and what they left open keeps the process alive, it says so and ends. Where
// times are wanted it tells how much of a processor the file has used, with the processes that it started.

import { readFileSync } from 'node:fs'
import { after } from 'node:test'

const patienceMs = 10_000

after(() => {
  setTimeout(() => {
    const counts = new Map()
    for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1)
    const open = [...counts].map(([name, count]) => `${count} ${name}`).join(', ')
    console.log(`${process.argv[1]} was ended ${patienceMs / 1000} s after its last test, as it had open: ${open}`)
    process.exit()
  }, patienceMs).unref()
})

if (process.env['TEST_TIMES'] !== undefined) {
  process.on('exit', () => {
    // Behind the name of the program, which may hold spaces: the time of the process and of its children, each in user and system.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ').slice(11, 15) ?? []
    console.log(`processor seconds: ${fields.reduce((sum, ticks) => sum + Number(ticks), 0) / 100}`)
  })
}
