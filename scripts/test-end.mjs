// Imported last into each test process: if it is alive ten seconds after its tests, reports the open handles and ends it. If TEST_TIMES is
// set, prints the CPU time of the process and its children.

import { readFileSync } from 'node:fs'
import { after } from 'node:test'

const timeoutMs = 10_000

after(() => {
  setTimeout(() => {
    const counts = new Map()
    for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1)
    const open = [...counts].map(([name, count]) => `${count} ${name}`).join(', ')
    console.log(`${process.argv[1]} was ended ${timeoutMs / 1000} s after its last test, as it had open: ${open}`)
    process.exit()
  }, timeoutMs).unref()
})

if (process.env['TEST_TIMES'] !== undefined) {
  process.on('exit', () => {
    // After the program name, which may contain spaces: user and system time of the process and of its children.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ').slice(11, 15) ?? []
    console.log(`processor seconds: ${fields.reduce((sum, ticks) => sum + Number(ticks), 0) / 100}`)
  })
}
