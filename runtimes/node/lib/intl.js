'use strict';
module.exports = { Intl: {} };
