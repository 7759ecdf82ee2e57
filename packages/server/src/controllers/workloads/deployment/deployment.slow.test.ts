// Many random histories of a Deployment.

import { test } from 'node:test'
import { playHistory } from './deployment-histories.fixture.js'

for (let seed = 100; seed < 160; seed++) test(`random history ${seed}`, () => playHistory(seed))
