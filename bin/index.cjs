// The embedding API for require().

'use strict'

const server = require('./load.js').load('server')

exports.startServer = server.startServer
exports.replayReviews = server.replayReviews
