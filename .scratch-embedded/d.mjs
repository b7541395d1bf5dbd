import { openEmbedded } from './dist/db/embedded/open-embedded.js'
let t=performance.now(); const db = await openEmbedded({directory:'/tmp/e2'}); console.log('dist', performance.now()-t, db.durability); await db.close(); console.log('closed')
