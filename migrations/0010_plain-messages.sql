-- From 2 KB on PostgreSQL compresses what it stores, which for most emails is a seventh of what accepting them costs, and
-- is undone again when they are sent. Up to a page they are stored as they are; longer ones are compressed as before.
ALTER TABLE "postrider"."messages" SET (toast_tuple_target = 8160);
